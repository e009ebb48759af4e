"""A two-layered summary as a side of a pair page shows it. Ids of iUnits are not in it."""

from dataclasses import dataclass

from study_app.store.plan import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An iUnit, or a link with what is below it, under the key by which the page and its events name it."""

    key: str
    text: str
    below: "tuple[Item, ...] | None" = None


def shown_summary(content: Content) -> tuple[Item, ...]:
    """Return a summary's items: ``f3`` is element 3 of the first layer, ``s3.1`` item 1 below it."""
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
