"""Two texts beside each other in a table: cut so that one sees where they differ."""

MOST_CHARS = 240
"""Characters of a text that are shown."""
WORDS_BEFORE = 6
"""Words in common that are kept before the first difference."""
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
    a, b = _words(text_a), _words(text_b)
    if a and a == b:
        return _cut(a, most), SAME
    common = next((place for place, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), 0)
    fits = len(" ".join(a[: common + WORDS_BEFORE])) <= most
    start = 0 if fits else common - WORDS_BEFORE
    return _cut(a, most, start), _cut(b, most, start)


def _words(text: str) -> list[str]:
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return [word for number, line in enumerate(lines) for word in ([LINE, *line] if number else line)]


def _cut(words: list[str], most: int, start: int = 0) -> str:
    shown = " ".join(words[start:])
    before = "… " if start else ""
    return before + (shown if len(shown) <= most else f"{shown[:most].rstrip()}…")
