"""For messages: the nearest known name, a list of names in a sentence, a number with its word; and words that no spreadsheet computes."""

from collections.abc import Iterable
from difflib import get_close_matches

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet would take for a formula; in Japan also in full width."""


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name most like ``name``, None when none is so near (`difflib`'s ratio, 1 for equal names)."""
    matches = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """`1 query`, `8 queries`: a number with its word; the plural of other words than in -s is given."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def listed(names: Iterable[str], *, most: int = 8) -> str:
    """Join names for a sentence: ``a, b, c and 4 more``."""
    names = list(names)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet computes: an apostrophe before what would be a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
