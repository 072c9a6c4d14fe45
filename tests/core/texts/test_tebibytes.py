"""From 1024 GiB on every amount is said in TiB, in each language, and none gets its unit twice or not at all."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.machine.hardware import card_named
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.first_choices import Goal, first_choices
from dsgui.core.memory.fits.foretold import held_against
from dsgui.core.memory.fits.memory_report import as_text
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.verdict import judge
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.metrics.samples import Sample
from dsgui.core.runs.alerts import Alerts
from dsgui.core.sizes import GIB, TIB
from dsgui.core.texts.chinese import TEXTS as CHINESE
from dsgui.core.texts.english import TEXTS as ENGLISH
from dsgui.core.texts.languages import LANGUAGES, speaking
from tests.core.memory.fits.test_verdict import answer

UNIT_OF_ITS_OWN = re.compile(r"\{\w+\} ?GiB(?!/s)")
# A bound that is chosen in GiB, and growth far below a tebibyte.
IN_GIB = {("memory_notes", "over_memory"), ("slow_figures", "swap")}
DOUBLED = re.compile(r"[GT]iB ?[GT]iB|(102[4-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3})\.\d")
PRESETS = Path(__file__).parents[3] / "presets"
pytestmark = pytest.mark.parametrize("tag", LANGUAGES)


def test_no_text_has_a_unit_behind_an_amount(tag):
    texts = {"en": ENGLISH, "zh-CN": CHINESE}[tag]
    found = {
        (kind, code) for kind, some in texts.items() for code, text in some.items() if UNIT_OF_ITS_OWN.search(text)
    }
    assert found <= IN_GIB


def test_verdicts_of_large_machines(tag):
    short = judge(answer(1400), Room(gpu_bytes=1100 * GIB, host_bytes=TIB))
    in_use = judge(answer(1100), Room(gpu_bytes=2 * TIB, gpu_in_use=1000 * GIB, host_bytes=TIB))
    with speaking(tag):
        for one in (*short.short, *in_use.short):
            assert not DOUBLED.search(str(one)), str(one)
        assert "1.1 TiB" in str(short.short[0])
        assert "1000.00 GiB" in str(in_use.short[0])


def test_a_table_says_all_its_parts_as_its_head_does(tag, catalog, checker):
    context = Context(Integration.HF, hardware=(card_named("a100-80"),), torch_version="2.9.0")
    goal = Goal(context, model_of_size("180B"), ModelChoice("180B", length=512), 1)

    def room(group):
        return replace(room_of(context.hardware, None, group, host_bytes=4 * TIB), workers=0)

    found = first_choices(goal, catalog.presets(), checker, room)
    fitted = next(one.fitted for one in found if one.preset.id == "zero3-offload-hf")
    with speaking(tag):
        lines = as_text(fitted).splitlines()
        head = next(at for at, line in enumerate(lines) if "4.0 TiB" in line and at > 0)
        rows = [line for line in lines[head + 1 :] if line.startswith("  ")]
        assert rows
        for row in rows:
            assert re.search(r"[GT]iB", row), row
            assert not DOUBLED.search(row), row


def test_alerts_and_what_was_foretold(tag):
    with speaking(tag):
        (told,) = Alerts().sample(Sample(0, int(1.95 * TIB), 2 * TIB, None, None, ()))
        assert "2.0 TiB" in told.text
        assert not re.search(r"\d{4}|TiB GiB", told.text)
        said = held_against({"host_bytes": int(1.5 * TIB)}, {"host_bytes": 900 * GIB})
        assert "1.5 TiB" in said
        assert "900.0 GiB" in said


def test_presets_say_sizes_in_gib_as_the_pages_do(tag):
    """Other than the name of a card, “A100 80 GB”, in which GB is its vendor's."""
    names = [one for one in PRESETS.glob("*.json") if (one.name == "zh-CN.json") is (tag == "zh-CN")]
    assert names
    assert not [one.name for one in names if re.search(r"\d GB\b", one.read_text(encoding="utf-8"))]
