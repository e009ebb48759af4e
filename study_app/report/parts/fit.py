"""Part of the report on fits: figures, parameters, and truth if known."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from calibration.fit.fit_files import FitPlot, FitPlots
from calibration.user_model.model import PATIENCE_SPREAD, ParameterEntry, UserModel, plain_name
from calibration.user_model.units import DisplayScale, for_people, label, other_laws, scales
from metrics.summaries.score import PAPER_PATIENCE
from study_app.report.drawing.figures import CurveMark, fit_drawing
from study_app.report.folder import ReportInputs
from study_app.report.page import (
    DASH,
    LEVEL,
    MINUS,
    NARROW,
    UNITS,
    Column,
    Figure,
    ReportTable,
    Section,
    duration_phrase,
    percent,
    percent_interval,
    pluralise,
    points,
    quantity,
    quantity_interval,
    to_table,
    unit_of,
)

_INSIDE = "Grey: 95\u202f% of studies simulated from the fit, with workers and exposure as in this one; "
CAPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "totals": f"{_INSIDE}the observed steps should mostly lie inside.",
        "qq": f"{_INSIDE}the workers, in order, should mostly lie inside.",
        "residuals": "Grey: reads around their worker’s speed. The fitted law and its parts should follow it.",
        "proportions": "Shares of answers with their intervals, and the fitted decay; it should pass through them.",
        "survival": f"{_INSIDE}the share of readers still reading should mostly lie inside. Dashed: the decay of M.",
        "steps": f"{_INSIDE}the share of people who go on should mostly lie inside. Dashed: the fitted probability.",
        "profile": "How much likelihood other patiences lose. The lowest point is the estimate; a flat curve tells little.",
        "shrinkage": "Each fitted probability with its interval over the raw share of votes; dashed: as voted.",
        "weights": "Each weight with its interval, relative to the gain of a relevant push; dashed: an open end.",
    }
)
"""Captions by kind of drawing."""
MARKED = ("preferences", "stops", "grid")
PATIENCE = "patience_chars"
LEFT_OUT = ("agreement",)
"""Drawings that another figure of the report shows better."""
NOT_DRAWN = "The fits are not drawn: there is no fit-plots.json of this user model beside it. prefcal fit writes both."
DEFAULTS = {"alpha": ("push_alpha", 0.66), "lateness": ("lateness_decay", 0.5)}
"""Parameter and its default, by the quantity along a curve."""


def fit_title(fit_plot: FitPlot, model: UserModel) -> str | None:
    """Return the finding of a drawing, None for a drawing that is not known here."""
    families = dict.fromkeys(family for family, _ in _TITLES)
    family = next((one for one in families if fit_plot.fit == one or fit_plot.fit.startswith(f"{one}_")), "")
    title = _TITLES.get((family, fit_plot.plot))
    if title is None or fit_plot.plot not in CAPTIONS:
        return None
    return title(
        fit_plot, [model.parameters[name] for name in fit_plot.parameters if name in model.parameters]
    )


def _lasting(entry: ParameterEntry) -> str:
    """`9.4 hours on average (7.08 to 13.6)`: estimate and interval in one unit."""
    low, high = entry.interval
    seconds = math.inf if entry.estimate is None else entry.estimate
    size = UNITS[unit := unit_of(seconds)]
    interval = quantity_interval(None if low is None else low / size, None if high is None else high / size)
    return f"{quantity(seconds / size)} {unit} on average ({interval})"


def _speed(entry: ParameterEntry) -> str:
    """`3.6 words a second (3.07 to 4.21)`, of a mean of logarithms."""
    what = "characters" if "char" in entry.unit else "words"
    low, high = (None if end is None else math.exp(end) for end in entry.interval)
    return f"{quantity(math.exp(entry.estimate or 0.0))} {what} a second ({quantity_interval(low, high)})"


def _spread(entry: ParameterEntry) -> str:
    return f"{duration_phrase(entry.estimate)} (standard deviation)"


def _in_characters(entry: ParameterEntry) -> str:
    return f"{quantity(_finite(entry))} characters ({quantity_interval(*entry.interval)})"


def _in_percent(entry: ParameterEntry) -> str:
    return f"{percent(entry.estimate)} ({percent_interval(*entry.interval)})"


def _push(fit_plot: FitPlot, entries: list[ParameterEntry]) -> str:
    """Return the first push weight that differs from 0.

    Pushes on eventful days come first, then silence on silent ones.
    """
    clear = {
        name: entry for name, entry in zip(fit_plot.parameters, entries, strict=False) if _is_told(entry)
    }
    for name, words in (
        ("push_P_E", "A non-relevant push on an eventful day costs {} of what a relevant one gains"),
        ("push_S_0", "A silent day without a push is worth {} of a relevant push"),
    ):
        if name in clear:
            return (
                f"{words.format(quantity(_finite(clear[name])))} ({quantity_interval(*clear[name].interval)})"
            )
    return "These judgments do not identify the worth of non-relevant pushes and of silence"


def _is_told(entry: ParameterEntry) -> bool:
    """Return whether an interval excludes 0."""
    low, high = entry.interval
    return (low is not None and low > 0) or (high is not None and high < 0)


def _finite(entry: ParameterEntry) -> float:
    return math.inf if entry.estimate is None else entry.estimate


_TITLES: Mapping[tuple[str, str], Callable[[FitPlot, list[ParameterEntry]], str]] = MappingProxyType(
    {
        ("away", "totals"): lambda _, fitted: f"People stay away for {_lasting(fitted[0])}",
        ("away", "qq"): lambda _, fitted: f"Mean times away differ between people by {_spread(fitted[1])}",
        ("session", "totals"): lambda _, fitted: f"A visit lasts {_lasting(fitted[0])}",
        ("session", "qq"): lambda _, fitted: f"Mean visits differ between people by {_spread(fitted[1])}",
        ("reading_speed", "qq"): lambda _, fitted: f"Half of the people read at least {_speed(fitted[0])}",
        ("reading_speed", "residuals"): lambda fit_plot, _: (
            f"{percent(fit_plot.details.get('share_idle'))} of the reads are idle,"
            f" {percent(fit_plot.details.get('share_skimmed'))} are skimmed"
        ),
        ("lateness", "proportions"): lambda _, fitted: (
            f"Each visit late leaves an update with {_in_percent(fitted[0])} of its use"
        ),
        ("patience_chars_stops", "survival"): lambda _, fitted: (
            f"Reading depth falls as with a patience of {_in_characters(fitted[0])}"
        ),
        ("rbp_p", "steps"): lambda _, fitted: (
            f"After an entry of a list {_in_percent(fitted[0])} go on to the next"
        ),
        ("patience_chars_preferences", "profile"): lambda _, fitted: (
            f"The preferences speak for a patience of {_in_characters(fitted[0])}"
        ),
        ("intents", "shrinkage"): lambda fit_plot, _: (
            f"{pluralise(int(fit_plot.details.get('intents') or 0), 'probability', 'probabilities')} of intents lie"
            f" {points(fit_plot.details.get('distance')).lstrip('+')} points from the votes on average"
        ),
        ("push", "weights"): _push,
    }
)
"""Titles of drawings, by the prefix of a fit's file name and kind of drawing."""


def true_value(truth: UserModel | None, name: str) -> float | None:
    """Return the true value of a parameter, None where it is unknown.

    A patience that the truth does not name for itself is the truth's only one; the grid looks for the patience of
    the preferences.
    """
    known = truth.parameters if truth is not None else {}
    plain = plain_name(name)
    suffix = name.removeprefix(plain)
    names = [name, plain]
    if plain in {f"{PATIENCE}_grid", PATIENCE}:
        names += [f"{PATIENCE}_preferences{suffix}", f"{PATIENCE}_preferences"]
    if plain.startswith(PATIENCE) and plain != PATIENCE_SPREAD:
        names += [f"{PATIENCE}{suffix}", PATIENCE]
    return next((known[parameter].estimate for parameter in names if parameter in known), None)


def curve_marks(
    model: UserModel | None, truth: UserModel | None, language: str, over: str
) -> list[CurveMark]:
    """Return the values to mark below a curve: the default, the estimates, the truth.

    Parameters
    ----------
    over : str
        What varies along the curve: ``patience_chars``, ``alpha`` or ``lateness``.
    """
    if over == PATIENCE:
        default = PAPER_PATIENCE.get(language, PAPER_PATIENCE["en"])
        names = {source: f"{PATIENCE}_{source}" for source in MARKED}
        true = true_value(truth, f"{PATIENCE}_preferences[{language}]")
    elif over in DEFAULTS:
        name, default = DEFAULTS[over]
        names, true = {"fitted": name}, true_value(truth, name)
    else:
        return []
    parameters = model.parameters if model is not None else {}
    marks = [CurveMark(label="default", value=default)]
    for source, name in names.items():
        entry = parameters.get(f"{name}[{language}]") or parameters.get(name)
        if entry is not None:
            low, high = entry.interval if _has_interval(entry) else (math.nan, math.nan)
            ends = (0.0 if low is None else low, math.inf if high is None else high)
            marks.append(CurveMark(label=source, value=_finite(entry), low=ends[0], high=ends[1]))
    return marks if true is None else [*marks, CurveMark(label="truth", value=true)]


def fit_section(material: ReportInputs, key: str = "parameters") -> Section:
    """Return the section on fits: figures, fitted parameters, and notes."""
    model, truth = material.model, material.truth
    if model is None or not (model.parameters or model.intents):
        why = (
            "There is no user-model.json in this folder; prefcal fit writes one."
            if model is None
            else "The user-model.json in this folder holds no parameter: the tables allow none, and prefcal fit says why."
        )
        return Section(key=key, title="No parameters were fitted", short="Parameters", paragraphs=(why,))
    shown = for_people(model.parameters)
    known = [(true_value(truth, name), entry) for name, entry in shown.items() if _has_interval(entry)]
    inside = [_holds(entry, true) for true, entry in known if true is not None]
    title = f"{pluralise(len(shown), 'parameter')} fitted to what the workers did"
    if inside:
        title = f"{sum(inside)} of {len(inside)} intervals hold the crowd’s true value"
    return Section(
        key=key,
        title=title,
        short="Parameters",
        paragraphs=(*_intent_sentences(model, truth), *(() if material.plots else (NOT_DRAWN,))),
        figures=tuple(_figures(material.plots, model)) if material.plots else (),
        tables=tuple(
            table for table in (_parameter_table(model, truth), _diagnostic_table(model)) if table.rows
        ),
    )


def _figures(fit_plot: FitPlots, model: UserModel) -> Iterator[Figure]:
    for plot in fit_plot.plots:
        title = fit_title(plot, model)
        if title is None or plot.plot in LEFT_OUT:
            continue
        yield Figure(
            name=f"fit-{plot.fit.replace('_', '-')}-{plot.plot}",
            title=title,
            draw=partial(fit_drawing, plot=plot.draw),
            alt=f"{title}. {CAPTIONS[plot.plot]}",
            caption=CAPTIONS[plot.plot],
        )


def _parameter_table(model: UserModel, truth: UserModel | None) -> ReportTable:
    """Return the parameters as a paper prints them.

    Names and units are those of the command line, signs those of the report.
    """
    printed = scales(model.parameters)
    rows = list(for_people(model.parameters).items())
    columns: list[Column] = [
        ("Parameter", lambda row: label(row[0], model.parameters)),
        ("Estimate", lambda row: _in_signs(printed[row[0]].amount(row[1].estimate))),
        (f"{_level(model)} interval", lambda row: _in_signs(printed[row[0]].interval(row[1].interval))),
        ("Workers", lambda row: quantity(row[1].workers)),
        ("Rows", lambda row: quantity(row[1].rows)),
        ("Method", lambda row: row[1].method),
    ]
    if truth is not None:
        columns[3:3] = [
            ("Truth", lambda row: _in_signs(_true_number(row[0], printed[row[0]], truth))),
            ("Held", lambda row: _held(row[0], row[1], truth)),
        ]
    if any(other_laws(entry, printed[name]) for name, entry in rows):
        columns[3:3] = [("Other laws", lambda row: _in_signs(other_laws(row[1], printed[row[0]])) or DASH)]
    note = "user-model.json has every parameter, by its name there and with all digits."
    return to_table("parameters", "Fitted parameters", rows, columns, note=note, for_papers=True)


def _in_signs(text: str) -> str:
    """Write minus signs and thousands as the report does."""
    return re.sub(r"-(?=[\d.])", MINUS, text.replace(",", NARROW))


def _true_number(name: str, scale: DisplayScale, truth: UserModel) -> str:
    true = true_value(truth, name)
    return DASH if true is None else scale.number(true)


def _held(name: str, entry: ParameterEntry, truth: UserModel) -> str:
    """Return whether an interval contains the true value, as a word.

    It is a dash where the true value is unknown.
    """
    true = true_value(truth, name)
    if true is None or not _has_interval(entry):
        return DASH
    return "yes" if _holds(entry, true) else "no"


def _diagnostic_table(model: UserModel) -> ReportTable:
    """Return the notes of all fits, each sentence once, warnings first."""
    about: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    known = [(label(name, model.parameters), entry.diagnostics) for name, entry in model.parameters.items()]
    for name, diagnostics in [*known, ("P(i|q)", model.intents_diagnostics)]:
        for diagnostic in diagnostics:
            about[diagnostic.severity, diagnostic.sentence].append(name)
    return to_table(
        "diagnostics",
        "Diagnostics",
        sorted(about.items(), key=lambda item: item[0][0] != "warning"),
        (
            ("Parameters", lambda row: "; ".join(row[1])),
            ("Kind", lambda row: row[0][0]),
            ("What the fit says", lambda row: row[0][1]),
        ),
        note="A warning says that a number should not be used without a second look.",
        cards=True,
    )


def _intent_sentences(model: UserModel, truth: UserModel | None) -> list[str]:
    if not model.intents:
        return []
    number = sum(map(len, model.intents.values()))
    sentence = (
        f"The probabilities of {pluralise(number, 'intent')} of {pluralise(len(model.intents), 'query', 'queries')} were"
        " fitted from votes."
    )
    inside = [
        entry.interval[0] <= truth.intents[topic][intent].estimate <= entry.interval[1]
        for topic, entries in model.intents.items()
        for intent, entry in entries.items()
        if truth is not None
        and intent in truth.intents.get(topic, {})
        and entry.interval[0] is not None
        and entry.interval[1] is not None
    ]
    if inside:
        sentence += (
            f" {sum(inside)} of {len(inside)} of their {LEVEL} intervals hold the crowd’s true probability."
        )
    return [sentence]


def _level(model: UserModel) -> str:
    """Return the confidence level of the parameters, or all levels if they differ."""
    levels = sorted({entry.level for entry in model.parameters.values()})
    return " or ".join(f"{100 * level:g}{NARROW}%" for level in levels)


def _has_interval(entry: ParameterEntry) -> bool:
    return entry.interval != (None, None)


def _holds(entry: ParameterEntry, true: float) -> bool:
    low, high = entry.interval
    return (low is None or low <= true) and (high is None or true <= high)
