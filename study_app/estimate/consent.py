"""Length and pay of a study in the text that workers agree to."""

import math
import re
from collections.abc import Iterator

from study_app.study.entries import FollowedTask, StudyEntry
from study_app.study.standard_texts import ADDED, PAID, duration_words
from study_app.tasks.workload import SecondsRange

MINUTE_SECONDS = 60
WITHOUT_CENTS = frozenset({"JPY", "KRW"})
_MINUTES = re.compile(
    r"(\d+)\s*(?:minutes?|mins?)\b|(\d+)\s*分|\b(?:an|one|half an|\d+) hours?\b|\d\s*時間|\b(?:five|ten|fifteen|twenty|thirty) minutes\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[$€£¥￥]\s*\d|\b(?:USD|EUR|GBP|JPY)\s*\d|\d\s*(?:USD|EUR|GBP|JPY|円|ドル|ユーロ|ポンド|dollars?|euros?|pounds?)"
)


def added_sentence(entry: StudyEntry, seconds: SecondsRange) -> str:
    """Return what the page of consent adds to the text of a study file: minutes, pay, both, or nothing.

    It adds what the text does not name. ``seconds``: the estimate of the whole study.
    """
    language = entry.tasks[0].language
    parts = [] if _MINUTES.search(entry.consent) else ["duration"]
    parts += ["pay"] if entry.reward and not names_amount(entry.consent, entry.reward) else []
    if not parts:
        return ""
    return ADDED[language]["_".join(parts)].format(
        duration=duration_of(entry, seconds, language),
        pay=PAID[language].format(pay=money(entry.reward or 0, entry.currency, language)),
    )


def duration_of(entry: StudyEntry, seconds: SecondsRange, language: str) -> str:
    """Return how long a study takes in words: whole minutes, and the days of a study that follows a stream."""
    low, high = whole_minutes(seconds)
    days = max((task.days for task in entry.tasks if isinstance(task, FollowedTask)), default=None)
    return duration_words((low, high), days, language)


def whole_minutes(seconds: SecondsRange) -> tuple[int, int]:
    """Return a length of time in whole minutes, at least one."""
    return max(1, math.floor(seconds.low / MINUTE_SECONDS)), max(1, math.ceil(seconds.high / MINUTE_SECONDS))


def money(amount: float, currency: str, language: str) -> str:
    """Format an amount with its currency, in cents where it has any."""
    if (currency, language) == ("JPY", "ja"):
        return f"{amount:.0f}円"
    return f"{amount:.{0 if currency in WITHOUT_CENTS else 2}f} {currency}"


def consent_warnings(entry: StudyEntry, seconds: SecondsRange) -> Iterator[str]:
    """Yield what the consent text says other than the rest of the study file does."""
    low, high = whole_minutes(seconds)
    named = [int(number) for match in _MINUTES.findall(entry.consent) for number in match if number]
    if named and not any(low / 2 <= minutes <= high * 2 for minutes in named):
        yield f"the consent text says {named[0]} minutes; the estimate is {low} to {high}"
    if entry.reward and _MONEY.search(entry.consent) and not names_amount(entry.consent, entry.reward):
        yield (
            f"the consent text names another amount than reward: {money(entry.reward, entry.currency, 'en')}, which the page adds"
        )


def names_amount(text: str, amount: float) -> bool:
    """Return whether a text names an amount.

    The text may have a point or a comma, in whole cents or as short as possible.
    """
    written = {f"{amount:.2f}", f"{amount:g}"}
    written |= {number.replace(".", ",") for number in written}
    return any(re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", text) for number in written)
