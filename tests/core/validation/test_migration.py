"""What changes for one config when it moves to another DeepSpeed release."""

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.validation.migration import migration
from dsgui.ui.config.tools_view import migration_html

OLD = Context(Integration.NATIVE, deepspeed_version="0.14.5")
TEXT = """{
  "train_batch_size": 8,
  "amp": {"enabled": false},
  "zero_optimization": {"stage": 0}
}"""


def test_what_breaks_and_what_defaults_change_on_the_way_up(checker):
    found = migration(checker, Document(TEXT), OLD, "0.19.8")
    assert [f.pointer for f in found.appears] == ["/amp"]
    (clipping,) = [f for f in found.defaults if f.pointer == "/gradient_clipping"]
    assert "0.0 in DeepSpeed 0.14.5 but 1.0 in 0.19.8" in clipping.message
    assert clipping.fix.apply(Document(TEXT)).value["gradient_clipping"] == 0.0


def test_the_same_release_changes_nothing(checker):
    found = migration(checker, Document(TEXT), OLD, "0.14.5")
    assert (found.appears, found.goes, found.defaults) == ((), (), ())
    assert "This config is already checked for DeepSpeed 0.14.5" in migration_html(found)


def test_a_default_is_only_named_where_the_config_leaves_it_out_in_a_block_it_has(checker):
    set_text = TEXT.replace('"amp"', '"gradient_clipping": 0.5,\n  "amp"')
    pointers = {f.pointer for f in migration(checker, Document(set_text), OLD, "0.19.8").defaults}
    assert "/gradient_clipping" not in pointers
    assert not any(pointer.startswith("/fp16/") for pointer in pointers)


def test_moving_back_names_keys_that_are_not_there_yet_and_what_heals(checker):
    context = Context(Integration.NATIVE)
    found = migration(checker, Document(TEXT.replace("amp", "torch_autocast")), context, "0.14.5")
    assert "/torch_autocast" in [f.pointer for f in found.appears]
    healed = migration(checker, Document(TEXT), context, "0.14.5")
    assert [f.pointer for f in healed.goes] == ["/amp"]
    assert "No longer reported" in migration_html(healed)
