"""Texts of tweets: ``tweet_id<TAB>text`` a line, UTF-8, plain or gzip, without quoting."""

from pathlib import Path

from metrics.errors import FaultLog
from metrics.readers.lines import rows


def read_texts(path: str | Path) -> dict[str, str]:
    """Read the text of each tweet, in the order of the file; a header with these names is skipped.

    Raises
    ------
    InputError
        With every line that has no tab or several or is not UTF-8, and every tweet that has another text above. A line that
        stands twice is no fault: lists of pooled tweets name a tweet once for each of its topics.
    """
    log = FaultLog(path)
    texts: dict[str, str] = {}
    for line, (tweet, text) in rows(path, ("tweet_id", "text"), log):
        if texts.setdefault(tweet, text) != text:
            log.add(f"tweet {tweet} has another text above", line=line, cure="delete one of the two lines")
    log.raise_if_any()
    return texts
