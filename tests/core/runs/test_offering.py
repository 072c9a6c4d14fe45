"""Advice that ends: no change is offered that leads back to an earlier failure, or that the checks object to."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Fix
from dsgui.core.diagnosis.diagnosis import Diagnosis, diagnose
from dsgui.core.diagnosis.remedies import Circumstances, Remedy
from dsgui.core.runs.offering import Offer, Tried, offer
from dsgui.core.texts.saying import as_told, said
from tests.core.diagnosis.test_diagnosis import FOLDER, SAMPLES, circumstances, diagnosed, ending_of, expected
from tests.support.cases import each_case

FP16, BF16 = (f"ValueError: Type {name} is not supported on your device." for name in ("fp16", "bf16"))
TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1, in f\n    f()\n'

FREE_PORT = Remedy(said("remedies", "another_port"))


def run(config: dict, arguments: tuple[str, ...] = (), failed: str = "It failed", run_id: str = "r") -> Tried:
    return Tried(run_id, json.dumps(config), arguments, as_told(failed) if failed else None)


def offered(found: Diagnosis, now: Tried, *earlier: Tried, objections=lambda tried: ()) -> Offer:
    return offer(found, now, earlier, objections)


def refused(error: str, tried: Tried) -> Diagnosis:
    facts = Circumstances(Document(tried.config_text), tried.arguments, 2, trainer=False)
    return diagnose(ending_of((TRACEBACK + error + "\n").encode()), 1, facts)


def setting(label: str, pointer: str, literal: str | None) -> Remedy:
    return Remedy(as_told(label), Fix(as_told(label), (Change(pointer, literal),)))


def one(*remedies: Remedy) -> Diagnosis:
    return Diagnosis("unknown", as_told("It failed"), as_told("meaning"), (as_told("advice"),), remedies=remedies)


def aside(made: Offer) -> list[str]:
    return [str(one) for one in made.set_aside]


def test_fp16_and_bf16_do_not_send_each_other_in_a_circle() -> None:
    first = run({"fp16": {"enabled": True}}, failed="The run’s devices don’t support fp16", run_id="a")
    there = offered(refused(FP16, first), first)
    assert there.diagnosis.remedy
    assert str(there.diagnosis.remedy.label) == "bf16 instead of fp16"
    second = first.changed(there.diagnosis.remedy)
    first = replace(first, remedies=there.diagnosis.remedies)
    back = offered(refused(BF16, second), second, first)
    assert back.diagnosis.remedy
    assert str(back.diagnosis.remedy.label) == "fp32, neither fp16 nor bf16"
    assert aside(back) == ["fp16 instead of bf16: run a had it and failed (The run’s devices don’t support fp16)."]


def test_edits_in_between_hide_no_circle() -> None:
    first = run({"train_batch_size": 8, "steps_per_print": 1}, ("--max_steps", "2"), run_id="a")
    now = run({"train_batch_size": "auto", "steps_per_print": 50}, ("--max_steps", "9"))
    made = offered(one(setting("train_batch_size 8", "/train_batch_size", "8")), now, first)
    assert made.diagnosis.remedy is None
    assert made.ends == "dsgui has no further change to suggest."


def test_what_an_earlier_run_had_and_did_not_fail_of_is_offered() -> None:
    first = run({"train_batch_size": 8}, failed="")
    remedy = setting("train_batch_size 8", "/train_batch_size", "8")
    assert offered(one(remedy), run({}), first).diagnosis.remedies == (remedy,)


def test_steps_in_one_direction_go_on() -> None:
    chain = [run({"train_micro_batch_size_per_gpu": size}) for size in (8, 4, 2)]
    remedy = setting("Micro batch 1", "/train_micro_batch_size_per_gpu", "1")
    assert offered(one(remedy), chain[2], *chain[:2]).diagnosis.remedy == remedy


def test_what_deepspeed_itself_refuses_is_not_offered_and_it_is_asked_only_until_one_is_left() -> None:
    remedies = [setting(f"stage {stage}", "/zero_optimization/stage", str(stage)) for stage in (1, 2, 3)]
    arguments = Remedy(as_told("--use_cpu"), None, (("--use_cpu", ""),))
    asked: list[object] = []

    def refusal(tried: Tried) -> str:
        asked.append(json.loads(tried.config_text).get("zero_optimization", {}).get("stage"))
        return "ValueError: not this stage" if asked[-1] == 1 else ""

    made = offer(one(*remedies), run({}), (), lambda tried: (), refusal)
    assert made.diagnosis.remedies == tuple(remedies[1:])
    assert aside(made) == ["stage 1: DeepSpeed itself refuses it: ValueError: not this stage"]
    assert asked == [1, None, 2]  # as it was, too: what it refuses there is no reason
    assert offer(one(arguments), run({}), (), lambda tried: (), lambda tried: "no").set_aside == ()
    none_left = offer(one(*remedies), run({}), (), lambda tried: (), lambda tried: tried.config_text)
    assert none_left.ends == "dsgui has no further change to suggest."


def test_a_refusal_that_the_run_did_not_fail_of_is_not_held_against_a_change() -> None:
    found = one(setting("stage 2", "/zero_optimization/stage", "2"))
    always = "ValueError: No such thing"
    assert offer(found, run({}), (), lambda tried: (), lambda tried: always).set_aside == ()
    failed_so = offer(replace(found, evidence=always), run({}), (), lambda tried: (), lambda tried: always)
    assert aside(failed_so) == [f"stage 2: DeepSpeed itself refuses it: {always}"]


def test_a_change_that_changes_nothing_is_not_offered_and_none_at_all_is() -> None:
    same = Remedy(as_told("--use_cpu"), None, (("--use_cpu", ""),))
    made = offered(one(same), run({}, ("--use_cpu",)))
    assert (made.diagnosis.remedies, aside(made)) == ((), ["--use_cpu: this run already had it."])
    assert offered(one(FREE_PORT), run({}), run({})).diagnosis.remedy == FREE_PORT


def test_what_the_checks_object_to_only_after_the_change_is_set_aside() -> None:
    def objections(tried: Tried):
        yield "gpus", "No GPU."
        if "bf16" in tried.config_text:
            yield "config", "DeepSpeed would refuse it."

    now = run({})
    bad, good = setting("bf16", "/bf16/enabled", "true"), setting("clip", "/gradient_clipping", "1.0")
    made = offered(one(bad, good), now, objections=objections)
    assert made.diagnosis.remedies == (good,)
    assert aside(made) == ["bf16: the checks report: DeepSpeed would refuse it."]


@each_case("name", SAMPLES)
def test_following_the_advice_ends(name: str) -> None:
    """The same failure over and over, each time with the change that was offered: it stops, and says so."""
    case, chain = expected(name), []
    tried = run(case["config"], tuple(case["arguments"]), str(diagnosed(name).title))
    for _ in range(40):
        facts = circumstances(case | {"config": json.loads(tried.config_text), "arguments": tried.arguments})
        found = diagnose(ending_of((FOLDER / f"{name}.log").read_bytes()), case["exit_code"], facts)
        made = offered(found, tried, *chain)
        if made.diagnosis.remedy is None or not (made.diagnosis.remedy.fix or made.diagnosis.remedy.options):
            return
        chain.insert(0, replace(tried, failed=found.title, remedies=made.diagnosis.remedies))
        after = tried.changed(made.diagnosis.remedy)
        assert (after.config_text, after.arguments) not in [(one.config_text, one.arguments) for one in chain]
        tried = after
    raise AssertionError(f"{name}: the advice goes on for ever")


@given(st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1, max_size=12))
def test_no_settings_are_tried_twice(literals: list[str | None]) -> None:
    tried, chain = run({"gradient_clipping": 0}), []
    for literal in literals:
        made = offered(one(setting("x", "/gradient_clipping", literal)), tried, *chain)
        if made.diagnosis.remedy:
            chain.insert(0, tried)
            tried = Tried("r", tried.changed(made.diagnosis.remedy).config_text, (), "It failed")
    texts = [one.config_text for one in [tried, *chain]]
    assert len(set(texts)) == len(texts)


def test_advice_to_set_the_working_directory_says_where_it_stands():
    """A page has a button for it there."""
    found = refused("FileNotFoundError: [Errno 2] No such file or directory: 'data/train.jsonl'", run({}))
    told = offered(found, run({})).to_json()
    assert "working directory" in told["advice"][told["on_launch"]]
    assert offered(refused(FP16, run({})), run({})).to_json()["on_launch"] is None


def test_a_line_of_the_output_is_told_apart_from_what_is_said_of_it():
    """The page sets it as code, and has a button for the advice to see the output."""
    line = "train.py: the folder data has no text. --help lists the known ones."
    facts = Circumstances(Document("{}"), (), 1, trainer=False)
    found = diagnose(ending_of(f"{line}\n".encode()), 2, facts)
    told = offered(found, run({})).to_json()
    assert (told["meaning"], told["quote"]) == ("The last line of its output:", line)
    assert told["advice"][told["in_output"]] == "See the output."
    assert str(found.meaning).endswith("the known ones”.")  # in a terminal, without a second full stop
    other = offered(refused(FP16, run({})), run({})).to_json()
    assert (other.get("quote"), other["in_output"]) == (None, None)


def test_each_change_has_a_button_that_names_it_in_the_order_of_the_changes() -> None:
    given = {"micro": "32", "micro_before": "64", "steps": "2", "steps_before": "1"}
    changes = (
        said("remedies", "smaller_micro_batch", **given),
        said("remedies", "checkpoint_activations"),
        said("remedies", "stage", stage="3"),
        said("remedies", "use_cpu"),
    )
    made = Offer(one(*map(Remedy, changes))).to_json()
    assert [each["button"] for each in made["remedies"]] == [
        "Clone with micro batch 32",
        "Clone with gradient checkpointing",
        "Clone with ZeRO stage 3",
        "Clone: pass --use_cpu",
    ]
    assert made["remedy"] == made["remedies"][0]
    assert made["remedies"][0]["label"] == "Micro batch 32 instead of 64, accumulation steps 2 instead of 1"


def test_what_a_change_sets_is_told_as_it_was_and_as_it_will_be() -> None:
    stage = setting("ZeRO stage 3", "/zero_optimization/stage", "3")
    option = Remedy(as_told("Micro batch 4"), None, (("--per_device_train_batch_size", "4"), ("--bf16", "")))
    now = run({"zero_optimization": {"stage": 2}}, ("--per_device_train_batch_size", "8"))
    told = offered(one(stage, option), now).to_json()["remedies"]
    assert [each["does"] for each in told] == [
        "zero_optimization.stage: 2 → 3",
        "--per_device_train_batch_size: 8 → 4, with --bf16",
    ]


def test_advice_that_a_button_follows_is_not_said_again_beside_it() -> None:
    """The first advice is the first button: “smaller micro batch” beside a button for a ZeRO stage was none."""
    error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    smaller = run({"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1})
    told = offered(refused(error, smaller), smaller).to_json()
    assert told["advice"][0].startswith("Use a smaller micro batch")
    assert (told["remedies"][0]["button"], told["offered"]) == ("Clone with micro batch 2", [0, 2])
    unknown = run({"zero_optimization": {"stage": 2}, "optimizer": {"type": "Lion"}})
    stage = offered(refused(error, unknown), unknown).to_json()
    assert (stage["remedies"][0]["button"], stage["offered"]) == ("Clone with ZeRO stage 3", [2])
