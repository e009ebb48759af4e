"""The form of event batches: which kinds there are and what each carries. Anything else is refused with a reason."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

MAX_EVENTS = 1_000
MAX_NUMBER = 1_000_000
MAX_MS = 2**53

Side = Literal["left", "right", "stream"]
"""Where an item stands: in one of two texts, or in a stream."""

Layout = Literal["side_by_side", "stacked"]
Choice = Literal["left", "right", "equally_good", "equally_bad"]
Item = Annotated[str, StringConstraints(pattern=r"^(f[0-9]{1,4}|s[0-9]{1,4}\.[0-9]{1,4}|u[1-9][0-9]{0,6})$")]
Share = Annotated[float, Field(ge=0, le=1)]
Milliseconds = Annotated[int, Field(ge=0, le=MAX_MS)]
Pixels = Annotated[int, Field(ge=0, le=100_000)]


class BadBatchError(ValueError):
    """A batch that breaks the form; the message says where and how."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class PageEvent(_Form):
    """What every event has: its number in the page load, kind, and the page's two clocks in milliseconds."""

    n: Annotated[int, Field(ge=1, le=MAX_NUMBER)]
    kind: str
    ms: Milliseconds
    wall: Milliseconds

    def detail(self) -> dict[str, Any]:
        """Return what the kind adds."""
        return self.model_dump(exclude={"n", "kind", "ms", "wall"})


class Open(PageEvent):
    """The page is ready; ``restored`` from the back/forward cache."""

    kind: Literal["open"]
    layout: Layout
    width: Pixels
    height: Pixels
    restored: bool


class LayoutChange(PageEvent):
    """Another layout came into force."""

    kind: Literal["layout"]
    layout: Layout


class Moment(PageEvent):
    """Something that needs no detail."""

    kind: Literal["visible", "hidden", "focus", "blur", "beat", "leave", "close"]


class Sleep(PageEvent):
    """The machine slept just before."""

    kind: Literal["sleep"]
    lost_ms: Annotated[int, Field(ge=-MAX_MS, le=MAX_MS)]


class See(PageEvent):
    """The share of an item that is in the viewport from now on."""

    kind: Literal["see"]
    side: Side
    item: Item
    share: Share


class Layer(PageEvent):
    """A second layer was opened or closed."""

    kind: Literal["layer"]
    side: Side
    item: Item
    open: bool


class Scroll(PageEvent):
    """The deepest share of the page shown so far."""

    kind: Literal["scroll"]
    depth: Share


class Chosen(PageEvent):
    """An option was picked, or the form was sent with it."""

    kind: Literal["choice", "submit"]
    choice: Choice


AnyEvent: TypeAlias = Annotated[
    Open | LayoutChange | Moment | Sleep | See | Layer | Scroll | Chosen, Field(discriminator="kind")
]


class Batch(_Form):
    """One delivery of a page's events."""

    page: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    sent_ms: Milliseconds
    sent_wall_ms: Milliseconds
    events: Annotated[list[AnyEvent], Field(max_length=MAX_EVENTS)]


_BATCH = TypeAdapter(Batch)


def read_batch(body: bytes) -> Batch:
    """Read a delivery; raises `BadBatchError` with the first thing that is wrong and where it stands."""
    try:
        return _BATCH.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "batch"
        raise BadBatchError(f"{place}: {first['msg']}") from error
