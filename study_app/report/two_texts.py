"""Two texts beside each other in a table: cut so that one sees where they differ."""

MOST_CHARS = 240
"""Characters of a text that are shown."""
BEFORE, AFTER = 40, 80
"""Characters that are shown before the first difference, and behind it at least."""
LINE = "/"
"""What stands between the lines of a text."""
SAME = "the same text as A"


def side_by_side(text_a: str, text_b: str, most: int = MOST_CHARS) -> tuple[str, str]:
    """Return two texts as they are shown: lines apart, a beginning in common left out where the difference comes late.

    Parameters
    ----------
    text_a, text_b : str
        In plain lines; may be empty.
    most : int
        Characters to show of each.
    """
    a, b = _one_line(text_a), _one_line(text_b)
    if a and a == b:
        return _cut(a, most), SAME
    alike = (one == other for one, other in zip(a, b, strict=False))
    common = next((place for place, same in enumerate(alike) if not same), min(len(a), len(b)))
    start = 0 if common + AFTER <= most else _word_begins(a, common - BEFORE, common)
    return _cut(a, most, start), _cut(b, most, start)


def _one_line(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return f" {LINE} ".join(line for line in lines if line)


def _word_begins(text: str, low: int, high: int) -> int:
    """Return where the first word within a stretch begins; its start in a script without spaces."""
    space = text.find(" ", low, high)
    return low if space < 0 else space + 1


def _cut(text: str, most: int, start: int = 0) -> str:
    before = "… " if start else ""
    shown = text[start:]
    return before + (shown if len(shown) <= most else f"{shown[:most].rstrip()}…")
