"""What the tests of the fitted models say, as diagnostics of their parameters."""

from collections.abc import Iterator

from calibration.fit.material import Material
from calibration.inference.attempts import Unmade, guarded
from calibration.inference.goodness import REJECTED
from calibration.inference.results import CalibrationResult, GoodnessOfFit, info, warning
from calibration.intents.fit import IntentFit
from calibration.user_model.model import Diagnostic


def tested(fit: CalibrationResult, material: Material) -> CalibrationResult:
    """Return a fit with what its goodness of fit says; a warning where its model is rejected."""
    said = {note.sentence for note in fit.diagnostics}
    return fit.noted(*(note for note in _notes(fit, material) if note.sentence not in said))


def tested_intents(fit: IntentFit, material: Material) -> IntentFit:
    """Return probabilities of intents with what their goodness of fit says."""
    return fit.noted(*_notes(fit, material))


def _notes(fit: CalibrationResult | IntentFit, material: Material) -> Iterator[Diagnostic]:
    simulations = material.options.simulations
    tests = guarded(lambda: fit.goodness_of_fit(simulations, material.seed) if simulations else ())
    if isinstance(tests, Unmade):
        yield warning("goodness_of_fit", f"The model could not be tested: {tests.reason}.")
    else:
        yield from map(_note, tests)


def _note(test: GoodnessOfFit) -> Diagnostic:
    if test.p_value < REJECTED:
        return warning("goodness_of_fit", test.sentence)
    return info("goodness_of_fit", test.sentence)
