"""What an evaluation found, where a line before announced it: DeepSpeed-Chat's three steps."""

import pytest

from dsgui.core.logs.trainlog import TrainLog


def read(*lines: str) -> list[tuple]:
    log = TrainLog()
    found = [*log.feed("".join(f"{line}\n" for line in lines)), *log.finish()]
    return [(one.kind, one.step, one.epoch, dict(one.values)) for one in found]


ENGINE = (
    "[2023-04-01 10:00:0{0},123] [INFO] [logging.py:96:log_dist] [Rank 0] step={0}0, skipped=0, lr=[1e-05], mom=[0]"
)
PERPLEXITY = "***** Evaluating perplexity, Epoch {}/2 *****"


def test_a_perplexity_alone_is_the_announced_evaluation():
    found = read(
        PERPLEXITY.format(0), "some warning", "ppl: 4998.5", ENGINE.format(1), PERPLEXITY.format(1), "ppl: 7.5"
    )
    assert [one for one in found if one[0] == "eval"] == [
        ("eval", 0, 0, {"perplexity": 4998.5}),
        ("eval", 10, 1, {"perplexity": 7.5}),
    ]


def test_scores_of_which_it_says_what_is_better_are_one():
    line = "chosen_last_scores (higher is better) : 2.25, acc (higher is better) : 0.75"
    found = read("***** Evaluating reward, Epoch 1/1 *****", line)
    assert found == [("eval", 0, 1, {"chosen_last_scores": 2.25, "accuracy": 0.75})]


@pytest.mark.parametrize("line", ["ppl: 4998.5", "temperature: 0.7, seed: 3", "acc (higher is better) : 0.49"])
def test_nobody_announced_it(line):
    assert read(line) == []
    assert read(PERPLEXITY.format(0), *["other words"] * 12, line) == []


def test_a_reward_is_of_the_step_before_it():
    step = "epoch: 0|step: {}|ppo_ep: 1|act_loss: 0.25|cri_loss: 0.125|unsuper_loss: 0.0"
    found = read(step.format(0), "average reward score: -0.5", "-----", step.format(1), "average reward score: 0.25")
    assert [(one[1], one[3]["reward"]) for one in found if "reward" in one[3]] == [(0, -0.5), (1, 0.25)]
