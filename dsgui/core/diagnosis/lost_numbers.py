"""What a loss or gradient norm that became NaN or infinite has to say beside how its run ended: it leads where nothing
else explains the end, and of a run that did not fail."""

from dataclasses import replace

from dsgui.core.diagnosis.diagnosis import NOT_A_NUMBER, UNKNOWN, Diagnosis
from dsgui.core.diagnosis.remedies import (
    Circumstances,
    bf16_for_fp16,
    logs_zero_for_nan,
    show_nan_losses,
    steadier,
    without_overlap,
)
from dsgui.core.metrics.not_numbers import NoNorm, NotNumbers
from dsgui.core.texts.saying import Said, said


def with_lost_numbers(found: Diagnosis | None, lost: NotNumbers, run: Circumstances | None) -> Diagnosis:
    """`found`: why it failed, None of a run that did not. `run`: None where no other can be started like it."""
    return _beside(found, _note(_title(lost), _went_on(lost), run), lost)


def with_no_norm(found: Diagnosis | None, norm: NoNorm, run: Circumstances | None) -> Diagnosis:
    """As `with_lost_numbers`, of a run whose loss stayed a number, or was logged as one."""
    lost = norm.numbers
    note = _note(_norm_title(norm), _beside_norm(norm, run), run)
    if norm.always and norm.is_zero:
        note = replace(note, advice=(said("diagnosis_advice", "nan_from_the_start"), *note.advice[1:]))
    if run and norm.is_zero and (shown := show_nan_losses(None, run)) and run.can_have(shown):
        note = replace(note, remedies=(*note.remedies, shown))
    return _beside(found, note, lost)


def _norm_title(norm: NoNorm) -> Said:
    what, place = _what(norm.numbers), _place(norm.numbers, norm.numbers.since)
    if norm.loss == "zero":
        return said("diagnosis_titles", "zero_loss_since", what=what, place=place)
    if norm.loss == "then_zero":
        return said("diagnosis_titles", "zero_loss_after", what=what, place=place)
    return said("diagnosis_titles", "no_norm_since", what=what, place=place)


def _beside_norm(norm: NoNorm, run: Circumstances | None) -> Said:
    """Why a loss beside it is a number."""
    if not norm.is_zero:
        return said("diagnosis_meanings", "no_norm_finite_loss" if norm.loss == "finite" else "no_norm_no_loss")
    known = run is not None and run.trainer
    if run is not None and known and not logs_zero_for_nan(run):
        return said("diagnosis_meanings", "no_norm_zero_loss")
    return said("diagnosis_meanings", "no_norm_filtered" if known else "no_norm_may_be_filtered")


def _beside(found: Diagnosis | None, note: Diagnosis, lost: NotNumbers) -> Diagnosis:
    if found is None:
        return note
    if not _leads(found, lost):
        meaning = said("diagnosis_meanings", "and_lost_numbers", meaning=found.meaning, lost=note.title)
        return replace(found, meaning=meaning)
    ended = said("diagnosis_meanings", "then_ended", title=found.title, meaning=found.meaning)
    told = note.meaning
    if found.signature == UNKNOWN:
        told = said("diagnosis_meanings", "lost_numbers_then", went_on=told, ended=ended)
    remedies = tuple(dict.fromkeys((*found.remedies, *note.remedies)))
    return replace(found, signature=NOT_A_NUMBER, title=note.title, meaning=told, advice=note.advice, remedies=remedies)


def _note(title: Said, meaning: Said, run: Circumstances | None) -> Diagnosis:
    return Diagnosis(
        signature=NOT_A_NUMBER,
        title=title,
        meaning=meaning,
        advice=_advice(run),
        remedies=steadier(run),
    )


def _advice(run: Circumstances | None) -> tuple[Said, ...]:
    """Of fp16 and of overlap_comm only to who trains with it."""
    is_fp16 = run is not None and bf16_for_fp16(None, run) is not None
    overlaps = run is not None and without_overlap(None, run) is not None
    return (
        said("diagnosis_advice", "steadier_numbers"),
        *([said("diagnosis_advice", "steadier_fp16")] if is_fp16 else []),
        *([said("diagnosis_advice", "steadier_overlap")] if overlaps else []),
    )


def _leads(found: Diagnosis, lost: NotNumbers) -> bool:
    """Whether it says more than what is known of the end: a loss that came back explains no exception."""
    if found.signature == UNKNOWN:
        return not found.traceback or lost.back is None
    return found.signature == NOT_A_NUMBER


def _title(lost: NotNumbers) -> Said:
    what = _what(lost)
    if lost.back is None:
        return said("diagnosis_titles", "lost_numbers_since", what=what, place=_place(lost, lost.since))
    if lost.count == 1:
        return said("diagnosis_titles", "lost_numbers_at", what=what, place=_place(lost, lost.first))
    places = _places(lost)
    if lost.whole:
        return said("diagnosis_titles", "lost_numbers_to", what=what, places=places)
    return said("diagnosis_titles", "lost_numbers_among", what=what, places=places, count=str(lost.count))


def _what(lost: NotNumbers) -> Said:
    alike = said("diagnosis_parts", "numbers_nan" if lost.nan else "numbers_infinite")
    return said("diagnosis_parts", "numbers_both") if lost.nan and lost.infinite else alike


def _went_on(lost: NotNumbers) -> Said:
    if lost.back is not None:
        back = _place(lost, lost.back)
        if back == _place(lost, lost.last):  # an epoch is printed with two decimals
            return said("diagnosis_meanings", "lost_numbers_back_soon")
        return said("diagnosis_meanings", "lost_numbers_back", place=back)
    if not lost.whole:
        return said("diagnosis_meanings", "lost_numbers_before", place=_place(lost, lost.first))
    return said("diagnosis_meanings", "lost_numbers_last" if lost.count == 1 else "lost_numbers_stayed")


def _place(lost: NotNumbers, at: float) -> Said:
    if lost.axis == "epoch":
        return said("diagnosis_parts", "at_epoch", epoch=f"{at:.5g}")
    return said("diagnosis_parts", "at_step" if lost.axis == "step" else "at_value", number=f"{at:.0f}")


def _places(lost: NotNumbers) -> Said:
    shown = ".5g" if lost.axis == "epoch" else ".0f"
    first, last = format(lost.first, shown), format(lost.last, shown)
    if first == last:
        return _place(lost, lost.first)
    if lost.axis == "epoch":
        return said("diagnosis_parts", "at_epochs", first=first, last=last)
    return said("diagnosis_parts", "at_steps" if lost.axis == "step" else "at_values", first=first, last=last)
