"""What the figures of fits say: their findings as titles, and how to read them."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from calibration.inference.results import CalibrationResult
from calibration.intents.fit import IntentFit
from calibration.user_model.model import ParameterEntry, UserModel
from study_app.report.wording import counted, percent, percent_interval, points, quantity, quantity_interval

_INSIDE = "Grey: 95\u202f% of studies simulated from the fit, with workers and exposure as in this one; "
CAPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "totals": f"{_INSIDE}the observed steps should mostly lie inside.",
        "qq": f"{_INSIDE}the workers, in order, should mostly lie inside.",
        "residuals": "Grey: reads around their worker’s speed. The fitted law and its parts should follow it.",
        "proportions": "Shares of answers with their intervals, and the fitted decay; it should pass through them.",
        "survival": f"{_INSIDE}the share of readers still reading should mostly lie inside. Dashed: the decay of M.",
        "profile": "How much likelihood other patiences lose. The lowest point is the estimate; a flat curve tells little.",
        "shrinkage": "Each fitted probability with its interval over the raw share of votes; dashed: as voted.",
        "weights": "Each weight with its interval, relative to the gain of a relevant push; dashed: an open end.",
    }
)
"""Kind of drawing -> how to read it."""

UNITS: Mapping[str, float] = MappingProxyType({"hours": 3600.0, "minutes": 60.0, "seconds": 1.0})


def fit_title(stem: str, plot: str, fit: CalibrationResult | IntentFit, model: UserModel) -> str | None:
    """Return the finding of a drawing, None for a drawing that is not known here."""
    base = next((one for one in _TITLES if stem == one[0] or stem.startswith(f"{one[0]}_")), None)
    title = _TITLES.get((base[0], plot)) if base else None
    if title is None or plot not in CAPTIONS:
        return None
    names = [] if isinstance(fit, IntentFit) else list(fit.parameters)
    entries = [model.parameters[name] for name in names if name in model.parameters]
    return title(fit, entries)


def lasting(seconds: float | None) -> str:
    """`9.4 hours`, `78 seconds`: a duration in the unit that people would use."""
    known = math.inf if seconds is None else seconds
    unit = _unit(known)
    number = quantity(known / UNITS[unit])
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def _unit(seconds: float) -> str:
    """Return the largest unit that a duration has twice."""
    return next((unit for unit, size in UNITS.items() if seconds >= 2 * size), "seconds")


def _within(entry: ParameterEntry) -> str:
    return quantity_interval(*entry.interval)


def _lasting(entry: ParameterEntry) -> str:
    """`9.4 hours on average (7.08 to 13.6)`: estimate and interval in one unit."""
    low, high = entry.interval
    seconds = math.inf if entry.estimate is None else entry.estimate
    size = UNITS[unit := _unit(seconds)]
    interval = quantity_interval(None if low is None else low / size, None if high is None else high / size)
    return f"{quantity(seconds / size)} {unit} on average ({interval})"


def _away(_: object, entries: list[ParameterEntry]) -> str:
    return f"People stay away for {_lasting(entries[0])}"


def _away_spread(_: object, entries: list[ParameterEntry]) -> str:
    return f"Mean times away differ between people by {lasting(entries[1].estimate)} (standard deviation)"


def _session(_: object, entries: list[ParameterEntry]) -> str:
    return f"A visit lasts {_lasting(entries[0])}"


def _session_spread(_: object, entries: list[ParameterEntry]) -> str:
    return f"Mean visits differ between people by {lasting(entries[1].estimate)} (standard deviation)"


def _speed(_: object, entries: list[ParameterEntry]) -> str:
    what = "characters" if "char" in entries[0].unit else "words"
    estimate = entries[0].estimate or 0.0
    low, high = (None if end is None else math.exp(end) for end in entries[0].interval)
    interval = quantity_interval(low, high)
    return f"Half of the people read at least {quantity(math.exp(estimate))} {what} a second ({interval})"


def _reads(fit: object, _: list[ParameterEntry]) -> str:
    details = fit.details if isinstance(fit, CalibrationResult) else {}
    idle, skimmed = (details.get(f"share_{kind}") for kind in ("idle", "skimmed"))
    return f"{percent(idle)} of the reads are idle, {percent(skimmed)} are skimmed"


def _lateness(_: object, entries: list[ParameterEntry]) -> str:
    decay = entries[0]
    interval = percent_interval(*decay.interval)
    return f"Each visit late leaves {percent(decay.estimate)} of an update’s use ({interval})"


def _depth(_: object, entries: list[ParameterEntry]) -> str:
    chars = f"{quantity(_finite(entries[0]))} characters ({_within(entries[0])})"
    return f"Reading depth falls as with a patience of {chars}"


def _likely(_: object, entries: list[ParameterEntry]) -> str:
    return f"The preferences speak for a patience of {quantity(_finite(entries[0]))} characters ({_within(entries[0])})"


def _intents(fit: object, _: list[ParameterEntry]) -> str:
    if not isinstance(fit, IntentFit):
        return "Intents as voted"
    away = [abs(p - raw) for p, raw in zip(fit.result.estimates, fit.raw, strict=True) if raw is not None]
    mean = float(sum(away) / len(away)) if away else None
    moved = points(mean).lstrip("+")
    return f"{counted(len(fit.intents), 'probability', 'probabilities')} of intents lie {moved} points from the votes on average"


def _push(fit: object, entries: list[ParameterEntry]) -> str:
    """Say the first weight that is told from 0: of pushes on eventful days, else of silence on silent ones."""
    names = list(fit.parameters) if isinstance(fit, CalibrationResult) else []
    told = {name: entry for name, entry in zip(names, entries, strict=False) if _is_told(entry)}
    for name, words in (
        ("push_P_E", "A non-relevant push on an eventful day costs {} of what a relevant one gains"),
        ("push_S_0", "A silent day without a push is worth {} of a relevant push"),
    ):
        if name in told:
            return f"{words.format(quantity(_finite(told[name])))} ({_within(told[name])})"
    return "What non-relevant pushes and silence are worth cannot be told from these judgments"


def _is_told(entry: ParameterEntry) -> bool:
    """Say whether an interval leaves out 0."""
    low, high = entry.interval
    return (low is not None and low > 0) or (high is not None and high < 0)


def _finite(entry: ParameterEntry) -> float:
    return math.inf if entry.estimate is None else entry.estimate


_TITLES: Mapping[tuple[str, str], Callable[[object, list[ParameterEntry]], str]] = MappingProxyType(
    {
        ("away", "totals"): _away,
        ("away", "qq"): _away_spread,
        ("session", "totals"): _session,
        ("session", "qq"): _session_spread,
        ("reading_speed", "qq"): _speed,
        ("reading_speed", "residuals"): _reads,
        ("lateness", "proportions"): _lateness,
        ("patience_chars_stops", "survival"): _depth,
        ("patience_chars_preferences", "profile"): _likely,
        ("intents", "shrinkage"): _intents,
        ("push", "weights"): _push,
    }
)
"""Beginning of a fit's file name, and kind of drawing -> the finding."""
