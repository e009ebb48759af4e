"""The parts of user-model.json that scoring uses; fitting and writing it is `calibration`'s business."""

import math
import re
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from metrics.errors import Fault, InputError, input_fault
from metrics.readers.lines import read_bytes
from metrics.wording import listed

PATIENCE = "patience_chars"
SUM_TOLERANCE = 0.01

Shares: TypeAlias = dict[str, dict[str, float]]
"""Topic -> intent -> P(i|q)."""


class _Part(BaseModel):
    """A part of the file; fields that are not named are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class Parameter(_Part):
    """One fitted parameter; None stands for an infinite estimate, and for an end without bound."""

    estimate: float | None
    interval: tuple[float | None, float | None]
    level: float = Field(default=0.95, gt=0, lt=1)


class Share(_Part):
    """The fitted P(i|q) of one intent, with its 95 % interval."""

    estimate: float = Field(ge=0)
    interval: tuple[float, float]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.interval[0] > self.interval[1]:
            raise ValueError("the interval's low end is above its high end")
        return self


class Joint(_Part):
    """The covariance of parameters that were fitted together, on the log scale."""

    names: list[str]
    covariance: list[list[float]]

    @model_validator(mode="after")
    def _square(self) -> Self:
        sizes = {len(self.covariance), *map(len, self.covariance)}
        if sizes != {len(self.names)}:
            raise ValueError("the covariance needs one row and one column a name")
        if any(row[place] < 0 for place, row in enumerate(self.covariance)):
            raise ValueError("a variance is negative")
        return self


class UserModel(_Part):
    """What scoring uses of a user model."""

    format: Literal["prefcal-user-model/1"]
    parameters: dict[str, Parameter]
    joint: list[Joint] = []
    intents: dict[str, dict[str, Share]] = {}

    @model_validator(mode="after")
    def _shares_add_up(self) -> Self:
        for topic, shares in self.shares().items():
            total = math.fsum(shares.values())
            if abs(total - 1) > SUM_TOLERANCE:
                raise ValueError(f"the intents of topic {topic!r} add up to {total:.6g}, not 1")
        return self

    def shares(self) -> Shares:
        """Return the fitted P(i|q) of every topic."""
        return {
            topic: {intent: share.estimate for intent, share in shares.items()}
            for topic, shares in self.intents.items()
        }


def read_model(path: str) -> UserModel:
    """Read a user model.

    Raises
    ------
    InputError
        With every part that is missing or has the wrong form.
    """
    try:
        return UserModel.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise InputError([_fault(path, found) for found in error.errors(include_url=False)]) from None


def patience_of(model: UserModel, path: str) -> Parameter:
    """Return the fitted patience; an estimate of None is infinite.

    Raises
    ------
    InputError
        If the model has none, or not 0 < low <= estimate <= high.
    """
    found = model.parameters.get(PATIENCE)
    if found is None:
        others = [name for name in model.parameters if name.startswith(PATIENCE)]
        problem = f"the model has no {PATIENCE}" + (f", only {listed(others)}" if others else "")
        raise input_fault(problem, path=path, cure="say which patience you want with --patience")
    low, high = found.interval
    ends = [0.0 if low is None else low, _or_infinite(found.estimate), _or_infinite(high)]
    if ends != sorted(ends) or ends[0] < 0 or ends[1] == 0:
        problem = f"{PATIENCE} is {found.estimate} with the interval {list(found.interval)}"
        raise input_fault(problem, path=path, cure="an estimate above 0 must lie in its interval")
    return found


def _or_infinite(value: float | None) -> float:
    """Return the number; None stands for infinity."""
    return math.inf if value is None else value


def _fault(path: str, found: ErrorDetails) -> Fault:
    """Put one complaint of the schema into a line; only broken JSON knows where it stands."""
    line = re.search(r" at line (\d+)", found["msg"])
    where = ".".join(map(str, found["loc"]))
    return Fault(
        problem=f"{where}: {found['msg']}" if where else found["msg"],
        cure="write the file with `prefcal fit`",
        path=path,
        line=int(line[1]) if line else None,
    )
