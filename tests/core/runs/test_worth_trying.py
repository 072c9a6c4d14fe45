"""Which steps of the ladder are tried."""

from dataclasses import replace

from dsgui.core.config.document import Document
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.runs.worth_trying import MOST, best, step_key
from tests.core.memory.fits.test_rungs import found


def test_the_fastest_that_fit_are_tried_in_the_ladders_order(checker):
    _, ladder, document = found(checker, 1)
    chosen = best(ladder, document, takes_options=True)
    fitting = [number for number, step in enumerate(ladder, 1) if step.fit is Fit.FITS and not step.change.zero_init]
    assert [one.number for one in chosen] == fitting[:MOST]
    for one in chosen:
        assert one.moves
        assert one.text == ladder[one.number - 1].change.apply(document).text


def test_the_config_as_it_is_is_among_them_if_it_fits(checker):
    _, ladder, document = found(checker, 3, gib=80)
    # As if everything else were faster: it is still tried.
    last = next(step for step in ladder if not step.change.moves)
    others = [replace(step, slower=0.5) for step in ladder if step.change.moves and step.fit is Fit.FITS]
    chosen = best([*others, last], document, takes_options=True)
    assert len(chosen) == MOST
    assert (chosen[-1].moves, chosen[-1].text) == ("", document.text)


def test_what_only_the_script_can_change_is_not_tried(checker):
    _, ladder, document = found(checker, 1)
    assert any(step.change.checkpointing and step.fit is Fit.FITS for step in ladder)
    for one in best(ladder, document, takes_options=False):
        change = ladder[one.number - 1].change
        assert (change.checkpointing, change.arguments) == (False, ())
    assert best([step for step in ladder if step.fit is not Fit.FITS], document, takes_options=True) == ()


def test_a_step_is_known_again_however_its_text_is_laid_out(checker):
    _, ladder, document = found(checker, 1)
    keys = [step_key(step.change, document) for step in ladder]
    assert len(set(keys)) == len(keys)
    again = Document(document.text.replace("\n", " ").replace("  ", ""))
    assert again.text != document.text
    assert [step_key(step.change, again) for step in ladder] == keys
