"""The Configure page's logic: the text is the single state; form edits, fixes and broken texts are views of it."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.form import Form, literal_for, shown_text
from dsgui.core.config.schema import FieldKind
from dsgui.core.launch.spec import host_gib
from dsgui.core.machine.hardware import Target
from dsgui.core.texts.saying import as_told
from dsgui.core.validation.check_report import subject
from dsgui.core.validation.mending import mending
from dsgui.ui.common.documents import MAX_CHARACTERS
from dsgui.ui.common.findings_view import ALL, CONVERT, findings_html, prose, without_key
from dsgui.ui.config.workbench import Workbench, make_context, odd_counts, odd_host
from tests.core.oracle.test_answers import answered, raised_by

NATIVE = Context(Integration.NATIVE)
HF = Context(Integration.HF)


@pytest.fixture
def bench(checker):
    return Workbench(checker)


def test_what_is_quoted_in_backticks_is_code_with_an_option_in_it_or_not():
    told = prose("“`--mixed_precision` arg cannot be set to `fp16`” <b>, or pass --bf16")
    assert told == (
        '“<code class="ds-option">--mixed_precision</code> arg cannot be set to <code>fp16</code>” &lt;b&gt;, or pass '
        '<code class="ds-option">--bf16</code>'
    )


@pytest.mark.parametrize(
    "text",
    ["fp16.enabled", "gradient_clipping", "zero_optimization.offload_optimizer.device", "deepspeed.initialize"],
)
def test_the_name_of_a_key_is_code_wherever_it_stands_in_a_sentence(text):
    code = f"<code>{text}</code>"
    assert prose(f"{text}: of {text}, and {text}.") == f"{code}: of {code}, and {code}."
    assert prose(f"把{text}设为 1") == f"把{code}设为 1"


@pytest.mark.parametrize(
    "text",
    [
        "~/a_b/ds_config.json",
        "DeepSpeed 0.19.8",
        "e.g. this",
        "train_batch_size=32",
        "a_b.load_checkpoint(x)",
        "A_B",
        "user_name@host.com",
        "www.deepspeed.ai",
        "C:\\foo_bar",
    ],
)
def test_what_is_part_of_something_else_is_no_key(text):
    assert "<code>" not in prose(text)


def edits(**typed):
    return {"edits": {"/" + pointer.replace("__", "/"): text for pointer, text in typed.items()}}


def test_an_edit_goes_into_the_text_and_is_acknowledged(bench):
    view = bench.edit(edits(train_batch_size="8", zero_optimization__reduce_bucket_size="5e8"), "{}", NATIVE)
    assert '"reduce_bucket_size": 5e8' in view.text
    assert view.form["acked"] == {"/train_batch_size": "8", "/zero_optimization/reduce_bucket_size": "5e8"}
    assert view.form["values"]["/zero_optimization/reduce_bucket_size"] == "5e8"


def test_what_is_found_says_its_field_and_the_line_of_it_or_of_the_block_it_is_missing_in(bench):
    text = '{\n  "train_batch_size": -8,\n  "zero_optimization": {\n    "stage": 2,\n    "bogus": 3\n  }\n}'
    found = {one["pointer"]: one for one in bench.show(text, NATIVE).form["found"]}
    assert (found["/train_batch_size"]["line"], found["/train_batch_size"]["severity"]) == (2, "error")
    assert found["/train_batch_size"]["text"].startswith("-8 is not a whole number")
    assert found["/zero_optimization/bogus"]["line"] == 5
    assert found["/gradient_clipping"]["line"] == 1  # it is absent: its block is the whole


def test_clearing_a_field_removes_the_key(bench):
    view = bench.edit(edits(fp16__enabled=""), '{"fp16": {"enabled": true}, "train_batch_size": 1}', NATIVE)
    assert json.loads(view.text) == {"train_batch_size": 1}


@pytest.mark.parametrize("typed", ['2, "zzz": 3', '5e8, "stage": 3', "1}, {", "[" * 63 + "]" * 63])
def test_whatever_is_typed_into_a_field_is_one_value_and_is_acknowledged(bench, typed):
    text = '{"zero_optimization": {"stage": 2}}'
    view = bench.edit(edits(zero_optimization__reduce_bucket_size=typed), text, NATIVE)
    assert set(json.loads(view.text)["zero_optimization"]) == {"stage", "reduce_bucket_size"}
    assert view.form["acked"] == {"/zero_optimization/reduce_bucket_size": typed}


def test_a_field_under_zero_optimization_true_keeps_what_true_means(bench):
    view = bench.edit(edits(zero_optimization__reduce_bucket_size="5e8"), '{"zero_optimization": true}', NATIVE)
    assert json.loads(view.text) == {"zero_optimization": {"stage": 1, "reduce_bucket_size": 5e8}}


def test_an_empty_text_is_no_config_yet_and_is_not_checked(bench):
    for text in ("", " \n"):
        view = bench.show(text, NATIVE)
        assert (view.text, view.found, view.form["blank"]) == (text, (), True)
        assert "No config yet" in view.findings
    assert bench.show("{}", NATIVE).found


def test_clearing_the_last_field_of_a_block_that_must_be_there_leaves_it_empty(bench):
    text = '{"zero_optimization": {"stage": 1}, "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 3}}}'
    form = edits(zero_optimization__stage="", scheduler__params__warmup_num_steps="")
    assert json.loads(bench.edit(form, text, HF).text) == {
        "zero_optimization": {},
        "scheduler": {"type": "WarmupLR", "params": {}},
    }


def test_half_a_character_in_the_text_can_be_sent_to_the_page(bench):
    view = bench.show('{"\\ud83d": 1, "optimizer": {"type": "\\ud800"}}', NATIVE)
    assert view.findings.encode("utf-8")
    assert json.dumps(view.form).encode("utf-8")


def test_many_findings_are_counted_and_the_first_are_shown(bench):
    view = bench.show(json.dumps({"zero_optimization": {f"unknown {n}": n for n in range(1000)}}), NATIVE)
    assert view.findings.count("data-rule") < 250
    assert "more are not shown" in view.findings


def test_a_broken_text_is_read_as_yaml_only_when_it_is_accelerates(bench, monkeypatch):
    monkeypatch.setattr("dsgui.core.config.accelerate_yaml.read", lambda text: pytest.fail("YAML was read"))
    assert "can’t be read yet" in bench.show("- a\n" * 9, NATIVE).findings


def test_while_the_text_is_broken_the_form_keeps_its_state_and_edits_wait(bench):
    form = {"values": {"/train_batch_size": "8"}, **edits(train_batch_size="9")}
    view = bench.edit(form, '{"train_batch_size": 8,', NATIVE)
    assert view.text == '{"train_batch_size": 8,'
    assert view.form.keys() == {"broken", "place"}
    assert "Line 1" in view.form["broken"]


def test_a_pointer_that_is_no_field_of_the_form_is_ignored(bench):
    view = bench.edit({"edits": {"/__proto__": "1", "": "2", "/train_batch_size": "4"}}, "{}", NATIVE)
    assert json.loads(view.text) == {"train_batch_size": 4}


def test_a_fix_is_found_again_by_its_edits_whatever_it_is_called_and_a_stale_one_changes_nothing(bench):
    text = '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}'
    fix = Fix(as_told("in whatever language"), (Change("/train_batch_size", "32"),)).id
    assert f'data-fix="{fix}"' in bench.show(text, NATIVE).findings
    assert bench.fix("DS010", "/train_batch_size", "Set train_batch_size to 32", text, NATIVE) == text
    fixed = bench.fix("DS010", "/train_batch_size", fix, text, NATIVE)
    assert json.loads(fixed)["train_batch_size"] == 32
    assert bench.fix("DS010", "/train_batch_size", fix, fixed, NATIVE) == fixed


def test_errors_with_one_right_fix_are_fixed_at_once_and_others_stay(bench):
    broken = {"train_batch_size": -8, "gradient_clipping": 1.0, "fp16": {"enabled": True}, "bf16": {"enabled": True}}
    text = json.dumps(broken | {"zero_optimization": {"stge": 2, "reduce_bucket_sise": 1000}}, indent=2)
    shown = bench.show(text, NATIVE).findings
    assert ">Fix 2 of 4 errors</button>" in shown
    # Which they are is told beside it.
    changes = re.search(r"<summary>Show changes</summary><ul[^>]*>(.*?)</ul>", shown).group(1)
    assert re.findall("<li>(.*?)</li>", changes) == [
        "<code>zero_optimization.stge</code>: Rename to stage",
        "<code>zero_optimization.reduce_bucket_sise</code>: Rename to <code>reduce_bucket_size</code>",
    ]
    fixed = json.loads(bench.fix("", "", ALL, text, NATIVE))
    assert fixed["zero_optimization"] == {"stage": 2, "reduce_bucket_size": 1000}
    assert fixed["train_batch_size"] == -8
    assert "errors</button>" not in bench.show(json.dumps({"zero_optimization": {"stge": 2}}), NATIVE).findings


def test_the_fix_of_several_findings_has_one_button_and_takes_away_as_many_as_it_says(bench):
    params = {"lr": "auto", "betas": "auto"}
    broken = {"train_batch_size": "auto", "optimizer": {"type": "AdamW", "params": params}, "bf16": {"enabled": "auto"}}
    text = json.dumps(broken | {"gradient_clipping": "auto"}, indent=2)
    view = bench.show(text, NATIVE)
    finding, fix = view.wide.finding, view.wide.fix
    assert ">Fix 4 errors, 1 warning</button>" in view.findings
    assert view.findings.count(f'data-fix="{fix.id}"') == 1
    after = bench.show(bench.fix(finding.rule, finding.pointer, fix.id, text, NATIVE), NATIVE)
    gone = {one.identity for one in view.found} - {one.identity for one in after.found}
    assert gone == {one.identity for one in view.wide.mended}
    assert len(gone) == 5
    assert after.wide is None
    # Where more errors have a right fix each, these are one press, and it stays with its finding.
    typos = bench.show(
        json.dumps(
            {"train_batch_size": 8, "bf16": {"one": 1, "two": 2, "three": 3}, "gradient_clipping": "auto"}
            | {"fp16": {"enabled": "auto"}}
        ),
        NATIVE,
    )
    assert ">Fix 3 of 4 errors</button>" in typos.findings
    assert f'data-fix="{typos.wide.fix.id}">Write what the HF Trainer' in typos.findings


def test_what_deepspeed_itself_answered_is_not_told_to_go_with_the_fix(checker):
    """It was asked about this text alone: nobody knows what it says of the next."""
    broken = {"train_batch_size": "auto", "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto"}}}
    text = json.dumps(broken | {"gradient_clipping": "auto", "zero_optimization": {"stage": 1}}, indent=2)
    problems = [{"keys": ["stage"], "message": "Extra inputs are not permitted"}]
    refused = raised_by("ValidationError", "1 validation error", model="DeepSpeedZeroConfig", problems=problems)
    refused["versions"] = {"deepspeed": NATIVE.release}
    view = Workbench(checker, lambda question: answered(text, NATIVE, refused)).show(text, NATIVE)
    assert any(one.pointer == "/zero_optimization/stage" for one in view.found)
    assert "/zero_optimization/stage" not in [one.pointer for one in view.wide.mended]


def test_findings_that_differ_in_their_key_alone_are_one_entry_with_every_key(bench):
    text = json.dumps({"train_batch_size": 8, "bf16": {"enabled": True, "one": 1, "two": 2}, "fp16": {"three": 3}})
    html = bench.show(text, NATIVE).findings
    entry = html[html.index('data-count="2"') :].partition("</details></li>")[0]
    assert [f'data-goto="/bf16/{key}"' in entry for key in ("one", "two")] == [True, True]
    assert entry.count(">Remove it</button>") == 2
    assert 'aria-label="Remove one"' in entry
    assert 'data-goto="/fp16/three"' not in entry  # another sentence


def test_where_several_repairs_are_right_each_has_a_button_that_makes_it(bench):
    text = '{"train_batch_size": 8, "zero_optimization": {"stage": 5}}'
    for stage in range(4):
        fix = Fix(as_told("in whatever language"), (Change("/zero_optimization/stage", str(stage)),)).id
        assert f'data-fix="{fix}" aria-label="Use {stage}' in bench.show(text, NATIVE).findings
        fixed = json.loads(bench.fix("DS001", "/zero_optimization/stage", fix, text, NATIVE))
        assert fixed["zero_optimization"] == {"stage": stage}


def test_a_text_as_large_as_a_model_is_refused_in_words(bench):
    view = bench.show("{" + " " * MAX_CHARACTERS, NATIVE)
    assert "characters" in view.findings


def test_below_the_key_a_message_begins_as_a_sentence_does():
    for message, shown in (
        ("lr: absent, so there is none", "Absent, so there is none"),
        ("lr: it is none", "It is none"),
        ("lr: true has no effect", "true has no effect"),
        ("lr: fp16 is on", "fp16 is on"),
    ):
        assert without_key(Finding("DS001", Severity.NOTE, "/lr", as_told(message), (), None)) == shown


def test_everything_in_a_finding_is_escaped():
    evil = "<img src=x onerror=alert(1)>"
    finding = Finding("DS001", Severity.ERROR, f"/{evil}", as_told(evil), (as_told(evil),), Fix(as_told(evil), ()))
    html = findings_html([finding, replace(finding, pointer="/other")], evil)
    assert "ds-changes" in html
    assert "<img" not in html
    assert 'onerror=alert(1)"' not in html


def test_the_context_bar_survives_empty_and_absurd_numbers():
    target = Target("python")
    for gpus in (None, 0, -3, 10**9):
        context = make_context(target, "hf", gpus, None, "this", "")
        assert 1 <= context.gpus_per_node <= 4096
        assert context.nodes == 1
    assert "HF Trainer" in subject(make_context(target, "hf", 2, 1, "v100", "0.16.9"))


def test_numbers_that_are_no_counts_are_said_to_be_checked_as_others():
    assert odd_counts(8, 1) == ()
    (gpus, nodes) = odd_counts(-3, None)
    assert "-3 is outside 1 to 4096; checked for 1" in gpus
    assert nodes == "Nodes: it is empty; checked for 1."
    assert "checked for 4096" in odd_counts(100000, 1)[0]


def test_a_host_that_is_no_number_of_gib_is_told_and_taken_as_not_known():
    for typed, gib in (("512", 512), ("512 GB", 512), ("64.0 GiB", 64), ("1000000", 10**6), ("", 0), (None, 0)):
        assert (host_gib(typed), odd_host(typed)) == (gib, ())
    for typed in ("0", "1000001", "a lot", "-4", "1.5", "٣"):
        assert host_gib(typed) == 0
        assert f"“{typed}” is no number of GiB up to 1,000,000" in odd_host(typed)[0]


def test_parameters_follow_the_chosen_optimizer(schema):
    state = Form(schema, "0.19.8").state(Document('{"optimizer": {"type": "SGD", "params": {"betas": [0.9, 0.999]}}}'))
    assert {"/optimizer/params/eps", "/optimizer/params/betas"} <= set(state.not_taken["SGD"])
    assert "/optimizer/params/lr" not in state.not_taken["SGD"]


def test_stage_3_keys_say_that_they_do_nothing_at_stage_2(schema):
    text = '{"zero_optimization": {"stage": 2, "stage3_max_live_parameters": 1e9}}'
    state = Form(schema, "0.19.8").state(Document(text))
    assert state.values["/zero_optimization/stage3_max_live_parameters"] == "1e9"
    assert "/zero_optimization/stage3_max_live_parameters" in state.idle


@pytest.mark.parametrize("typed", ["5e8", "1e-5", "0.0", "0", "-1", "auto", "null"])
def test_numbers_and_auto_stay_as_typed_in_every_number_field(schema, typed):
    for field in schema.fields.values():
        if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
            literal = literal_for(field, typed)
            assert shown_text(field, literal) == typed
            assert json.loads(literal) == ("auto" if typed == "auto" else json.loads(typed))


def test_a_list_may_be_typed_with_or_without_brackets(schema):
    betas = schema.fields["/optimizer/params/betas"]
    assert literal_for(betas, "0.8, 0.999") == "[0.8, 0.999]"
    assert literal_for(betas, "[0.8,0.999]") == "[0.8,0.999]"


@given(st.data(), st.text(min_size=1, max_size=12))
def test_form_to_json_to_form_is_the_identity_and_never_breaks_the_text(schema, data, typed):
    field = data.draw(st.sampled_from(list(schema.fields.values())))
    literal = literal_for(field, typed)
    if literal is None:
        assert not typed.strip()
        return
    document = Document("{}").set(field.pointer, literal)
    again = shown_text(field, document.literal(field.pointer))
    assert literal_for(field, again) == literal


@pytest.mark.parametrize(
    "text", ['{\n "bf16": {"enabled": True},\n}', "{'bf16': {'enabled': True}}", "{bf16: {enabled: True,\n}}"]
)
def test_a_dict_pasted_from_python_is_converted_to_what_it_means(bench, text):
    assert "Python" in bench.show(text, HF).findings
    assert json.loads(bench.fix("DS000", "", CONVERT, text, HF)) == {"bf16": {"enabled": True}}


@pytest.mark.parametrize(
    ("text", "place", "label", "mended"),
    [
        ('{"a": 8,, "b": 1}', (1, 9), "Remove the extra comma", '{"a": 8, "b": 1}'),
        ('{"a": {"b": 1,}, "c": 5e8}', (1, 14), "Remove the extra comma", '{"a": {"b": 1}, "c": 5e8}'),
        ('{\n  "a": 1\n  "b": 2\n}', (2, 9), "Add the comma", '{\n  "a": 1,\n  "b": 2\n}'),
        ("{'a': 'b'}", (1, 2), "Replace &#x27;a&#x27; with &quot;a&quot;", "{\"a\": 'b'}"),
        ('{"a": True,\n"b": None}', (1, 7), "Replace True with true", '{"a": true,\n"b": None}'),
        ('{"a": 1 // one\n}', (1, 9), "Remove the comment", '{"a": 1\n}'),
        ('{"a": 1_000_000}', (1, 8), "Replace 1_000_000 with 1000000", '{"a": 1000000}'),
    ],
)
def test_a_broken_text_says_where_and_its_button_mends_that_place_alone(bench, text, place, label, mended):
    view = bench.show(text, HF)
    assert view.form["place"] == {"line": place[0], "column": place[1]}
    assert f'data-place="{place[0]}:{place[1]}"' in view.findings
    assert label in view.findings
    fix = mending(text).id
    assert f'data-fix="{fix}"' in view.findings.split("data-place", 1)[1]  # below what it repairs
    assert bench.fix("DS000", "", fix, text, HF) == mended
    # A press that comes late means the place that was there.
    later = text.replace("a", "abc")
    assert bench.fix("DS000", "", fix, later, HF) == later


def test_a_broken_text_is_offered_to_be_converted_only_where_that_changes_more(bench):
    assert CONVERT not in bench.show('{"a": 1,}', HF).findings
    assert "Native DeepSpeed reads this file" in bench.show('{"a": 1,}', HF).findings
    assert CONVERT in bench.show("{'a': 1,}", HF).findings
    assert "data-fix" not in bench.show('{"a" 1}', HF).findings
    too_long = "{" + " " * MAX_CHARACTERS
    assert "place" not in bench.show(too_long, HF).form
    assert bench.fix("DS000", "", "", too_long, HF) == too_long


def test_a_finding_at_a_field_names_its_rule_and_has_no_buttons_of_its_own(bench):
    """The list has them: the same finding offers the same in one place."""
    product = '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}'
    shown = bench.show(product, NATIVE)
    found = next(one for one in shown.form["found"] if one["pointer"] == "/train_batch_size")
    assert sorted(found) == ["line", "pointer", "rule", "severity", "text"]
    assert f'data-rule="{found["rule"]}" data-pointer="/train_batch_size"' in shown.findings


def test_of_a_text_that_is_no_json_the_line_is_shown_with_its_place_marked(bench):
    shown = bench.show('{\n  "a": 1\n  "b": <2>\n}', HF).findings
    assert '<code class="ds-excerpt"><span>2</span>&quot;a&quot;: 1<mark> </mark></code>' in shown
    assert "Fix it in the editor, or undo" in shown
    long = bench.show('{"a": "' + "x" * 100 + '" "b": ' + "y" * 100, HF).findings
    excerpt = re.search(r'class="ds-excerpt">(.*?)</code>', long)[1]
    assert re.fullmatch(r"<span>1</span>…x+&quot;<mark> </mark>&quot;b&quot;: y+…", excerpt)
    assert bench.show("", HF).findings.count("ds-excerpt") == 0


def test_a_few_values_are_one_control_that_marks_the_default(bench):
    shown = bench.show('{"train_batch_size": 8, "zero_optimization": {"stage": 5}}', NATIVE).findings
    group = shown.partition('<span class="ds-picks" role="group" aria-label="zero_optimization.stage">')[2]
    picks, _, rest = group.partition("</button></span>")
    assert re.findall(r">([^<>]+)</button>", f"{picks}</button>") == ["0 (default)", "1", "2", "3"]
    assert [f'aria-label="Use {one}"' in picks for one in ("0 (default)", "1", "2", "3")] == [True] * 4
    assert 'class="ds-fix ds-second"' in rest.partition(">Clear stage<")[0]  # it is no sixth value
    # What is read aloud has no quotes either, that of text.
    device = bench.show('{"train_batch_size": 8, "zero_optimization": {"offload_param": {"device": "x"}}}', NATIVE)
    assert 'aria-label="Use none (default)">none (default)</button>' in device.findings
    assert 'aria-label="Use cpu">cpu</button>' in device.findings
    assert 'aria-label="Use &quot;' not in device.findings


@pytest.mark.parametrize(
    ("text", "rule", "pointer", "label"),
    [
        ('{"zero_optimization": {"stage": "off"}}', "DS001", "/zero_optimization/stage", "Clear stage"),
        ('{"tokenizer_path": "x", "bf16": {}}', "DS004", "/tokenizer_path", "Remove tokenizer_path"),
        (
            '{"zero_optimization": {"stage": 1, "offload_param": {"device": "cpu"}}}',
            "DS045",
            "/zero_optimization/offload_param",
            "Remove offload_param",
        ),
    ],
)
def test_advice_to_take_a_key_out_has_a_button_that_does_and_that_no_other_fix_presses(
    bench, checker, text, rule, pointer, label
):
    (finding,) = (f for f in checker.findings(Document(text), NATIVE) if (f.rule, f.pointer) == (rule, pointer))
    assert f">{label}</button>" in bench.show(text, NATIVE).findings
    fixed = bench.fix(rule, pointer, finding.choices[-1].id, text, NATIVE)
    assert Document(fixed).node(pointer) is None
    assert Document(bench.fix("", "", ALL, text, NATIVE)).node(pointer) is not None
