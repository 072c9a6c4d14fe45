"""The formula beside dry runs of whole models: those of the bench (`benchmarks/memory_formula.py`) that it once had
wrong, and LoRA's. Each line of the file is a question as the worker reads it, and the peaks that DeepSpeed 0.19.8
had."""

import json
from pathlib import Path

import pytest

from dsgui.core.memory.answer import Device
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Lora, Model, Question, Workload
from tests.support.cases import each_case

ROWS = [json.loads(line) for line in Path(__file__).with_name("dry_runs.jsonl").read_text("utf-8").splitlines()]
LEAST = 3 << 20  # bytes: below, blocks of 512 bytes for single numbers are a percent


def question_of(row):
    asked = row["question"]
    model, group = Model("recorded", asked["model"]["config"]), Group(**asked["group"])
    lora = asked["workload"]["lora"]
    adapters = lora and Lora(lora["rank"], tuple(lora["targets"]), lora["dropout"])
    workload = Workload(**{**asked["workload"], "lora": adapters})
    return Question(model, asked["config"], workload, group, by_decay=asked["by_decay"])


@each_case("row", ROWS, ids=lambda row: row["case"])
def test_every_moment_is_as_deepspeed_itself_had_it(row):
    found = answer(question_of(row))
    for device in (Device.GPU, Device.HOST):
        ours = {peak.moment.value: peak.count for peak in found.of(device)}
        real = {moment: count for moment, count in row["peaks"][device.value].items() if moment != "peak"}
        assert {moment: ours.get(moment, 0) for moment in real} == pytest.approx(real, rel=0.015, abs=LEAST * 0.02)
