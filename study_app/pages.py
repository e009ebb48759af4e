"""What each page of a worker shows: one value a template. Names of systems and ids of iUnits are in none of them."""

from dataclasses import dataclass

from study_app.plan import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An iUnit, or a link with what is below it, under the key by which the page and its events name it."""

    key: str
    text: str
    below: "tuple[Item, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage:
    """A page that only says something: keys of the catalogue, and how to refer to this moment."""

    language: str
    heading: str
    text: str
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentPage:
    """The consent text of the study, and the code to withdraw with; ``given`` once it was agreed to."""

    language: str
    title: str
    paragraphs: tuple[str, ...]
    text_sha256: str
    withdrawal_code: str
    given: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosePage:
    """The queries that can be taken, (number, text) each, and the one taken already."""

    language: str
    offered: tuple[tuple[int, str], ...]
    taken: str | None
    searches: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """The query to search for; ``seconds`` the search should last and those left of them."""

    language: str
    query: str
    seconds_left: int
    seconds: int
    left: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VotePage:
    """The intents of a query, (position, text) each, and the positions ticked so far (None before the first answer)."""

    language: str
    query: str
    intents: tuple[tuple[int, str], ...]
    ticked: frozenset[int] | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPage:
    """Two summaries of a query to choose between; ``number`` of ``total``, and the answer stored so far."""

    language: str
    query: str
    number: int
    total: int
    left: tuple[Item, ...]
    right: tuple[Item, ...]
    criteria: tuple[str, ...]
    choice: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPage:
    """Everything is answered."""

    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DonePage:
    """The completion code, the way back to the platform, and the code to withdraw with."""

    language: str
    code: str
    return_url: str | None
    withdrawal_code: str


def shown_items(content: Content) -> tuple[Item, ...]:
    """Return a summary as the page shows it: ``f3`` is element 3 of the first layer, ``s3.1`` item 1 below it."""
    return tuple(
        Item(
            key=f"f{place}",
            text=element["text"],
            below=None
            if element["kind"] == "iunit"
            else tuple(
                Item(key=f"s{place}.{number}", text=item["text"])
                for number, item in enumerate(element["second"])
            ),
        )
        for place, element in enumerate(content["first"])
    )
