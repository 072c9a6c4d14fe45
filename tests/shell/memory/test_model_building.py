"""What a dry run takes a `config.json` for, and says of it. Stand-ins have the names of transformers' mappings."""

from types import SimpleNamespace

import pytest

from dsgui.shell.memory import model_building

NAMES = ("LlamaForCausalLM", "LlamaForSequenceClassification", "LlamaForQuestionAnswering")
MODULES = {
    "transformers": SimpleNamespace(**{name: type(name, (), {}) for name in NAMES}),
    "transformers.models.auto.modeling_auto": SimpleNamespace(
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES={"llama": NAMES[0]},
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES={"llama": NAMES[1]},
    ),
}
WORK = {"attention": "eager", "micro_batch": 1, "length": 8}


@pytest.fixture
def taken(monkeypatch):
    """The notes on a `config.json` of Llama with more keys, and of more that its config object has."""
    monkeypatch.setattr(model_building, "load", MODULES.__getitem__)

    def notes(keys, **more):
        config = SimpleNamespace(model_type="llama", is_encoder_decoder=False, **more)
        monkeypatch.setattr(model_building, "config_of", lambda *_: config)
        return model_building.FromConfig({"model": {"config": keys}, "workload": WORK}).notes()

    return notes


def test_what_trains_words_by_its_usual_class_needs_no_note(taken):
    assert taken({}) == taken({"architectures": None}) == taken({"architectures": [NAMES[0]]}) == []


def test_another_head_that_gives_a_loss_is_said(taken):
    assert taken({"architectures": [NAMES[1]]}) == [("taken_as", {"name": NAMES[1]})]


@pytest.mark.parametrize("named", [NAMES[2], "LlamaModel"])
def test_another_class_than_config_json_names_is_said(taken, named):
    assert taken({"architectures": [named]}) == [("taken_instead", {"name": NAMES[0], "named": named})]


def test_what_sees_and_is_built_as_another_class_says_both(taken):
    notes = taken({"architectures": [NAMES[2]]}, vision_config={})
    assert [code for code, _ in notes] == ["text_only", "taken_instead"]
