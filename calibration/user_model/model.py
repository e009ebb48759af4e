"""User model: fitted parameters of people, and its file `user-model.json`.

`calibration.fit.user_model_fit` makes it.

A hand-written file with nothing but estimates is a valid one too: the truth of a simulated crowd.
"""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from calibration.user_model.json_files import read_model, write_json
from metrics.errors import join_names, pluralise
from metrics.results import Overview, first_lines

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["prefcal-user-model/1"]
FORMAT: Format = "prefcal-user-model/1"

JointScale = Literal["log", "identity"]

PARAMETERS = MappingProxyType(
    {
        "away_mean_seconds": "stream seconds",
        "away_sd_seconds": "stream seconds",
        "away_median_seconds": "stream seconds",
        "away_quartile_low_seconds": "stream seconds",
        "away_quartile_high_seconds": "stream seconds",
        "session_mean_seconds": "seconds",
        "session_sd_seconds": "seconds",
        "session_median_seconds": "seconds",
        "session_quartile_low_seconds": "seconds",
        "session_quartile_high_seconds": "seconds",
        "away_session_correlation": "correlation",
        "reading_speed_mu": "log words per second",
        "reading_speed_sigma": "log words per second",
        "lateness_decay": "per visit late",
        "lateness_p0": "probability",
        "lateness_floor": "share",
        "patience_chars": "counted characters",
        "patience_chars_preferences": "counted characters",
        "patience_chars_stops": "counted characters",
        "patience_chars_grid": "counted characters",
        "patience_chars_spread": "coefficient of variation",
        "rbp_p": "probability",
        "push_P_E": "relative to G_E",
        "push_S_E": "relative to G_E",
        "push_P_0": "relative to G_E",
        "push_S_0": "relative to G_E",
        "push_alpha": "share",
    }
)
"""Unit of each parameter that a user model may have, in the order of writing."""

PATIENCE = "patience_chars"
PATIENCE_SPREAD = "patience_chars_spread"
"""Parameter of the spread of patience between people; it is no patience itself."""
PERSISTENCE = "rbp_p"
ALPHA = "push_alpha"
PUSH_WEIGHTS = ("push_P_E", "push_S_E", "push_P_0", "push_S_0")
"""Contingency weights relative to G_E = 1, in the order of the cells after gain."""
LATENESS = "lateness_decay"
USE_IN_TIME = "lateness_p0"
CORRELATION = "away_session_correlation"
"""Correlation of people's log mean time away and log mean session."""
QUANTILES = frozenset(
    f"{what}_{quantile}_seconds"
    for what in ("away", "session")
    for quantile in ("median", "quartile_low", "quartile_high")
)
"""Parameters derived from others of their fit, which are not drawn."""
FLOOR = "lateness_floor"
LOG_SPEED = "reading_speed_mu"
"""Parameter that is a logarithm already, so unchanged in joint entries of logs."""
SPEED = (LOG_SPEED, "reading_speed_sigma")

_LANGUAGE = re.compile(r"\[[a-z]{2}\]$")


def plain_name(name: str) -> str:
    """Return a parameter's name without its language.

    `patience_chars[ja]` becomes `patience_chars`.
    """
    return _LANGUAGE.sub("", name)


def _known(name: str) -> str:
    if plain_name(name) not in PARAMETERS:
        raise PydanticCustomError(
            "unknown_name", "there is no parameter of this name", {"known": list(PARAMETERS)}
        )
    return name


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0)]
Name = Annotated[str, AfterValidator(_known)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Diagnostic(_Part):
    """Named warning or note about one parameter.

    Attributes
    ----------
    name : str
        Stable, for programs.
    severity : {'info', 'warning'}
        A warning says that the number should not be used without a second look.
    sentence : str
        For people.
    """

    name: str
    severity: Literal["info", "warning"]
    sentence: str


class OtherLaw(_Part):
    """Value of a parameter under another law, or without some people.

    The data do not reject that law against the best one.

    Attributes
    ----------
    law : str
        The law or the class of people, in a word or two: `drop-outs`, `gamma`, `without careless answers`.
    estimate : float or None
        The parameter under it; None: infinite.
    low, high : float or None
        Its confidence interval; None: that end is open.
    explains : {'better', 'as well'}
        How it explains the data beside the model.
    """

    law: str
    estimate: Number | None
    low: Number | None = None
    high: Number | None = None
    explains: Literal["better", "as well"]


class ParameterEntry(_Part):
    """Fitted parameter with its interval.

    Attributes
    ----------
    estimate : float or None
        None: infinite.
    interval : (float or None, float or None)
        Its confidence interval; None: that end is open.
    level : float
        Confidence level of the interval.
    unit, method : str
        What it is measured in, and how it was fitted.
    workers, rows : int or None
        How many entered the fit.
    diagnostics : tuple of Diagnostic
        What to know before using the number.
    sensitivity : tuple of OtherLaw
        What it is under other laws that the data leave open; none is the estimate.
    """

    estimate: Number | None
    interval: tuple[Number | None, Number | None] = (None, None)
    level: Annotated[Number, Field(gt=0, lt=1)] = 0.95
    unit: str = ""
    method: str = ""
    workers: Count | None = None
    rows: Count | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    sensitivity: tuple[OtherLaw, ...] = ()


class JointEntry(_Part):
    """Covariance of parameters that were fitted jointly.

    Attributes
    ----------
    names : tuple of str
        Parameters, in the order of the covariance's rows.
    scale : {'log', 'identity'}
        What the covariance is of: the logarithms (reading_speed_mu is one already and stands as it is), or the
        parameters themselves where they may be negative.
    covariance : tuple of tuple of float
        Symmetric.
    """

    names: tuple[Name, ...]
    scale: JointScale = "log"
    covariance: tuple[tuple[Number, ...], ...]


class IntentEntry(_Part):
    """Probability of one intent.

    Attributes
    ----------
    estimate : float
        P(i|q); the estimates of a topic add up to 1.
    interval : (float, float) or (None, None)
        Its 95 % interval.
    raw : float or None
        Votes of the intent over votes of all intents; None when nobody ticked any.
    sensitivity : tuple of OtherLaw
        What it is under other laws, or without some people, that the votes leave open.
    """

    estimate: Annotated[Number, Field(ge=0, le=1)]
    interval: tuple[Number | None, Number | None] = (None, None)
    raw: Number | None = None
    sensitivity: tuple[OtherLaw, ...] = ()


class UserModel(_Part):
    """Content of user-model.json, printed as the first lines of its `summary`.

    Attributes
    ----------
    study, tables_sha256, prefcal_version : str or None
        What it was fitted to and by.
    seed : int or None
        Seed of every resampling.
    parameters : dict of str to ParameterEntry
        By name, one of `PARAMETERS`, with its language in brackets where a study has several.
    joint : tuple of JointEntry
        Groups of parameters whose errors belong together.
    intents : dict of str to dict of str to IntentEntry
        Topic -> intent -> probability.
    intents_diagnostics : tuple of Diagnostic
        What to know before using them.
    laws : dict of {'away', 'session'} to {'gamma'}
        The law that the workers' means of times away, or of sessions, were fitted and published with on purpose (`fit --law`),
        where it is not the log-normal one: `gamma` rates. M and S stand among the parameters.

    Examples
    --------
    >>> model = UserModel.model_validate({"parameters": {"patience_chars": {"estimate": 840}}})
    >>> model.params.to_dict()
    {'patience_chars': 840.0}
    """

    format: Format = FORMAT
    study: str | None = None
    tables_sha256: str | None = None
    prefcal_version: str | None = None
    seed: Count | None = None
    parameters: dict[Name, ParameterEntry] = {}
    joint: tuple[JointEntry, ...] = ()
    intents: dict[str, dict[str, IntentEntry]] = {}
    intents_diagnostics: tuple[Diagnostic, ...] = ()
    laws: dict[Literal["away", "session"], Literal["gamma"]] = {}

    def __repr__(self) -> str:
        return first_lines(self.summary())

    __str__ = __repr__

    @property
    def params(self) -> "pd.Series[float]":
        """Estimates by name, as a series; `inf` where infinite."""
        return self.frame()["estimate"]

    def frame(self) -> "pd.DataFrame":
        """Return one row per parameter, see `parameter_frame`."""
        return parameter_frame(self.parameters)

    def overview(self) -> Overview:
        """Return every parameter with its interval, and the number of topics with intents."""
        shown = self.frame()[["estimate", "low", "high", "unit"]].reset_index()
        topics = [f"P(i|q) of {pluralise(len(self.intents), 'topic')}"] if self.intents else []
        return Overview(shown, ".4g", topics)

    def summary(self) -> str:
        """Return the overview as text, below the name of the study."""
        overview, whose = self.overview(), f"User model{f' of {self.study}' if self.study else ''}"
        if not self.parameters:
            return "\n".join(
                [whose, *overview.sentences] if overview.sentences else [f"{whose}: no parameter"]
            )
        return f"{whose}\n{overview.as_text()}"

    def _repr_html_(self) -> str:
        return self.overview().as_html()

    def entry(self, name: str, language: str | None = None) -> ParameterEntry | None:
        """Return a parameter's entry by name and language, or None."""
        return self.parameters.get(f"{name}[{language}]") or self.parameters.get(name)

    def part(
        self, names: Iterable[str], intents: Mapping[str, Mapping[str, IntentEntry]] | None = None
    ) -> "UserModel":
        """Return the model reduced to some parameters, in this order, and some P(i|q)."""
        parameters = {name: self.parameters[name] for name in names if name in self.parameters}
        return self.model_copy(update={"parameters": parameters, "intents": intents or {}})


def parameter_frame(entries: Mapping[str, ParameterEntry]) -> "pd.DataFrame":
    """Convert parameters to a frame.

    Returns
    -------
    DataFrame
        Index ``name``; estimate (inf: infinite), low, high (-inf, inf: that end is open; nan: no interval), level, unit, method, workers, rows (missing:
        not known).
    """
    import pandas as pd  # noqa: PLC0415 - half a second that the command line does not pay

    columns: dict[str, list[Any]] = {
        "estimate": [
            math.inf if parameter.estimate is None else parameter.estimate for parameter in entries.values()
        ],
        "low": [_ends(parameter)[0] for parameter in entries.values()],
        "high": [_ends(parameter)[1] for parameter in entries.values()],
        "level": [parameter.level for parameter in entries.values()],
        "unit": [parameter.unit for parameter in entries.values()],
        "method": [parameter.method for parameter in entries.values()],
        "workers": [parameter.workers for parameter in entries.values()],
        "rows": [parameter.rows for parameter in entries.values()],
    }
    frame = pd.DataFrame(columns, index=pd.Index(list(entries), name="name"))
    numbers = dict.fromkeys(("estimate", "low", "high", "level"), "float64")
    return frame.astype({**numbers, "workers": "Int64", "rows": "Int64"})


def _ends(entry: ParameterEntry) -> tuple[float, float]:
    """Return interval ends as numbers, infinite if open, NaN without an interval.

    An infinite estimate has none.
    """
    low, high = entry.interval
    if low is None and high is None:
        return math.nan, math.nan
    return -math.inf if low is None else low, math.inf if high is None else high


class _File(UserModel):
    """Required header of a user model's file."""

    format: Format


def read_user_model(path: str | Path) -> UserModel:
    """Read a user model.

    Parameters
    ----------
    path : str or Path
        As `prefcal fit` or `write_user_model` wrote it.

    Returns
    -------
    UserModel
        Its content.

    Raises
    ------
    InputError
        If the file cannot be read or is no user model: every fault with its line, key and cure.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import prefcal
    >>> path = Path(mkdtemp()) / "user-model.json"
    >>> model = prefcal.UserModel.model_validate({"parameters": {"patience_chars": {"estimate": 840}}})
    >>> prefcal.write_user_model(model, path)
    >>> prefcal.read_user_model(path).params.to_dict()
    {'patience_chars': 840.0}
    """
    return read_model(path, _File, cure="write the file with prefcal fit, or as docs/calibration.md says")


def load_model(model: UserModel | str | Path) -> tuple[UserModel, str]:
    """Return a user model from a value or a file, with its name in messages.

    Raises
    ------
    InputError
        As `read_user_model`.
    """
    if isinstance(model, UserModel):
        return model, "user model"
    return read_user_model(model), str(model)


def lacking_push_weights(model: UserModel) -> str:
    """Return a sentence on contingency weights that count as 0, or an empty text.

    The rule, wherever the utility is computed: a weight that the model lacks is 0, so that its cell of Table 1 is ignored,
    as T11U ignores the row of silence (Tan et al., SIGIR 2016, section 4); and this sentence is said.
    """
    missing = join_names(name for name in PUSH_WEIGHTS if name not in model.parameters)
    if not missing:
        return ""
    return (
        f"the contingency utility counts {missing} as 0, which the model lacks: "
        "prefcal fit leaves out what the judged pairs cannot tell"
    )


def write_user_model(model: UserModel, path: str | Path) -> None:
    """Write a user model atomically; the same model gives the same bytes.

    A model without another law lacks its key.

    Parameters
    ----------
    model : UserModel
        As `fit` makes it.
    path : str or Path
        The file; one that is there is replaced.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import prefcal
    >>> path = Path(mkdtemp()) / "user-model.json"
    >>> model = prefcal.UserModel.model_validate({"parameters": {"patience_chars": {"estimate": 840}}})
    >>> prefcal.write_user_model(model, path)
    >>> prefcal.read_user_model(path).params.to_dict()
    {'patience_chars': 840.0}
    """
    unsaid = {name for name in ("laws", "intents_diagnostics") if not getattr(model, name)}
    content = model.model_dump(mode="json", exclude=unsaid)
    intents = [entry for topic in content["intents"].values() for entry in topic.values()]
    for entry in [*content["parameters"].values(), *intents]:
        if not entry["sensitivity"]:
            del entry["sensitivity"]
    write_json(path, content)
