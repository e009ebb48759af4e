"""A ranked list as a side of a pair page shows it. Ids of documents are not in it."""

from dataclasses import dataclass

from study_app.store.plan import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A document of the list, under the key by which the page and its events name it; ``window`` None: it has none."""

    key: str
    title: str
    text: str
    window: str | None


def shown_ranking(content: Content) -> tuple[Entry, ...]:
    """Return a list's entries, the best first: ``r1`` is the one at the top."""
    return tuple(
        Entry(key=f"r{place}", title=entry["title"], text=entry["text"], window=entry["window"])
        for place, entry in enumerate(content["list"], start=1)
    )
