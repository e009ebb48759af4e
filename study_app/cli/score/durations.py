"""Typed numbers in a range, durations such as `3h`, `90m`, `120s` or 0, and populations of them."""

import math
import re
import sys
from collections.abc import Callable

import click

SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
NUMBER = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
DURATION = re.compile(rf"({NUMBER}) ?([hms])")


def number_from_0(most: float, otherwise: str) -> Callable[[str], float]:
    """Return a parser of numbers from 0 to ``most``; any other text is wrong usage, as ``otherwise`` says."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= most:
            raise click.BadParameter(f"{text!r} {otherwise}")
        return number

    return read


decay = number_from_0(1.0, "is no number from 0 to 1")
characters = number_from_0(math.inf, "is no number of characters; write one such as 840, or inf")
multiple = number_from_0(sys.float_info.max, "is no multiple of the mean; write some such as .5,1,2")


def duration(text: str) -> float:
    """Parse a duration such as ``3h``, ``90m`` or ``120s``, in seconds.

    A 0 needs no unit.

    Raises
    ------
    BadParameter
        If it is none, with what is wrong with it.
    """
    match = DURATION.fullmatch(text)
    if match is not None:
        return float(match[1]) * SECONDS[match[2]]
    if re.fullmatch(NUMBER, text) and float(text) == 0:
        return 0.0
    raise click.BadParameter(_what_is_wrong(text))


def durations(text: str) -> tuple[float, float]:
    """Read ``M,S``, a mean and a standard deviation over users, in seconds.

    Raises
    ------
    BadParameter
        If these are not two durations, with what is wrong.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and text.strip():
        duration(parts[0])  # what is none at all is said first
        raise click.BadParameter(
            f"{text!r} is the mean alone; write the standard deviation over users behind it, such as 3h,90m"
        )
    if len(parts) != 2:
        raise click.BadParameter(
            f"{text!r} is no mean and standard deviation; write two durations such as 3h,90m"
        )
    return duration(parts[0]), duration(parts[1])


def _what_is_wrong(text: str) -> str:
    if re.fullmatch(NUMBER, text):
        return f"{text!r} has no unit; write {text}h, {text}m or {text}s"
    if re.fullmatch(rf"-({NUMBER})[hms]?", text):
        return f"{text!r} is below 0; write a duration such as 3h, or 0"
    match = re.fullmatch(rf"({NUMBER}) ?([a-z]+)", text, re.IGNORECASE)
    if match is not None:
        number, unit = match.groups()
        return f"{text!r} has the unit {unit!r}, which there is not; write {number}h, {number}m or {number}s"
    return f"{text!r} is no duration; write one such as 3h, 90m or 120s"
