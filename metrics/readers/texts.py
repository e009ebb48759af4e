"""Texts of tweets: ``tweet_id<TAB>text`` a line, UTF-8, plain or gzip, without quoting."""

from pathlib import Path

from metrics.errors import FaultLog
from metrics.readers.lines import rows


def read_texts(path: str | Path) -> dict[str, str]:
    """Read the text of each tweet, in the order of the file; a header with these names is skipped.

    Raises
    ------
    InputError
        With every line that has no tab or several or is not UTF-8, and every tweet that stands twice.
    """
    log = FaultLog(path)
    texts: dict[str, str] = {}
    for line, (tweet, text) in rows(path, ("tweet_id", "text"), log):
        if tweet in texts:
            log.add(f"tweet {tweet} stands twice", line=line, cure="delete one of the two lines")
        texts[tweet] = text
    log.raise_if_any()
    return texts
