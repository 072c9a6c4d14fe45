"""What the HF Trainer logs beside its scalars: its arguments and the model's config, as texts."""

import json

import pytest

from dsgui.core.adopted.found_settings import config_of, object_of, words_of
from dsgui.core.metrics.event_file import event_scalars, event_texts

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2", reason="in requirements-dev.txt")


def logged(tag: str, text: str) -> bytes:
    """As torch's add_text writes it."""
    event = event_pb2.Event(wall_time=1.0, step=3)
    value = event.summary.value.add(tag=tag)
    value.tensor.dtype = 7
    value.tensor.string_val.append(text.encode())
    value.tensor.tensor_shape.dim.add(size=1)
    return event.SerializeToString()


def test_arguments_come_back_with_the_config_inside():
    given = {"learning_rate": 5e-5, "deepspeed": {"zero_optimization": {"stage": 3}}, "hub_token": "<HUB_TOKEN>"}
    body = logged("args/text_summary", json.dumps(given))
    found = object_of(event_texts(body)["args"])
    assert words_of(found) == ("--learning_rate", "5e-05")
    assert json.loads(config_of(found)) == given["deepspeed"]
    assert event_scalars(body) == []


def test_other_texts_and_paths_are_no_settings():
    assert event_texts(logged("note", "x")) == {}
    assert config_of({"deepspeed": "ds_config.json"}) == config_of({"deepspeed": {"a": 1}}) == ""
