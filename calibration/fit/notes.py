"""What is said of the fits of all families in one way."""

from calibration.fit.families import ALPHA, PATIENCE, WEIGHTS
from calibration.inference.few import notes_on_few
from calibration.inference.results import CalibrationResult
from calibration.patience.fit import FROM_PAIRS
from calibration.user_model.model import Diagnostic, plain_name

FROM_PREFERENCES = "from preferences"
"""How the method of a `patience_chars` begins that is the one from preferences."""


def warned(fit: CalibrationResult, clickers: Diagnostic | None) -> CalibrationResult:
    """Return a fit with what is said of all fits in one way: few workers or topics, and judges who click at random.

    Parameters
    ----------
    fit : CalibrationResult
        Of any family; what it says itself is not said again.
    clickers : Diagnostic or None
        Of the preferences.
    """
    topics = fit.details.get("topics")
    notes = [*notes_on_few(workers=fit.n_workers, topics=None if topics is None else int(topics))]
    if clickers is not None and _from_preferences(fit):
        notes.append(clickers)
    said = {note.name for note in fit.diagnostics}
    alone = {note.replace("one_", "few_") + "s" for note in said if note.startswith("one_")}
    return fit.noted(*(note for note in notes if note.name not in said | alone))


def _from_preferences(fit: CalibrationResult) -> bool:
    names = {plain_name(name) for name in fit.parameters}
    return names <= {*WEIGHTS, *ALPHA, *FROM_PAIRS} or (
        names == {*PATIENCE} and fit.method.startswith(FROM_PREFERENCES)
    )
