"""Form of event batches: kinds of events, and what each carries.

Anything else is refused with a reason. The descriptions here are those of the published schema (docs/events.schema.json), so they speak to
whoever reads a log.
"""

import json
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

MAX_EVENTS = 1_000
MAX_NUMBER = 1_000_000
MAX_MS = 2**53

Side = Annotated[
    Literal["left", "right", "stream"],
    Field(description="Where the item stands: on the left or right side of a pair, or in a stream."),
]
Layout = Annotated[
    Literal["side_by_side", "stacked"], Field(description="How the texts of the page stand on the screen.")
]
Choice = Annotated[
    Literal[
        "left",
        "right",
        "equally_good",
        "equally_bad",
        "left_1",
        "left_2",
        "left_3",
        "right_1",
        "right_2",
        "right_3",
    ],
    Field(
        description="An option of a pair page; left_2 is a step of graded choices: the left side is better by 2."
    ),
]
Item = Annotated[
    str,
    StringConstraints(pattern=r"^(f[0-9]{1,4}|s[0-9]{1,4}\.[0-9]{1,4}|[mpru][1-9][0-9]{0,6})$"),
    Field(
        description="Key of an element: f3 is element 3 (from 0) of the first layer, s3.1 item 1 below the link f3, "
        "u12 the update in place 12 (from 1, oldest first) of a stream, p12 the same of push notifications, r1 the entry at the "
        "top of a ranked list, m1 a picture, whose layer is open while it is enlarged."
    ),
]
Share = Annotated[float, Field(ge=0, le=1)]
Milliseconds = Annotated[int, Field(ge=0, le=MAX_MS)]
Pixels = Annotated[int, Field(ge=0, le=100_000)]
PageClock = Annotated[
    Milliseconds, Field(description="The page's monotonic clock: milliseconds since the page load.")
]
WallClock = Annotated[
    Milliseconds,
    Field(
        description="The computer's clock: milliseconds since 1970. It may be wrong; only its steps are used."
    ),
]


class BadBatchError(ValueError):
    """A batch that breaks the form; the message says where and how."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class PageEvent(_Form):
    """Common fields of events: number in the page load, kind, two clocks in ms.

    The clocks are the page's own and the wall clock.
    """

    n: Annotated[
        int,
        Field(ge=1, le=MAX_NUMBER, description="Number of the event in its page load, from 1 without holes."),
    ]
    kind: str
    ms: PageClock
    wall: WallClock

    def detail(self) -> dict[str, Any]:
        """Return the fields of the event's own kind."""
        return {name: getattr(self, name) for name in _added_by(type(self))}


@cache
def _added_by(kind: type[PageEvent]) -> tuple[str, ...]:
    """Return the names of what a kind of events adds, in their order."""
    return tuple(name for name in kind.model_fields if name not in PageEvent.model_fields)


class Open(PageEvent):
    """The page is ready. Always followed by visible or hidden."""

    kind: Literal["open"]
    layout: Layout
    width: Annotated[Pixels, Field(description="Of the window, in CSS pixels.")]
    height: Annotated[Pixels, Field(description="Of the window, in CSS pixels.")]
    restored: Annotated[bool, Field(description="It came back from the back/forward cache.")]


class LayoutChange(PageEvent):
    """Another layout came into force."""

    kind: Literal["layout"]
    layout: Layout


class Moment(PageEvent):
    """Something that needs no detail.

    visible, hidden: the tab came to the front, or went away from it. focus, blur: the window got or lost the focus.
    beat: every five seconds while visible. leave: the form of a stream was sent. close: the page was left.
    """

    kind: Literal["visible", "hidden", "focus", "blur", "beat", "leave", "close"]


class Sleep(PageEvent):
    """Step between the two clocks: the machine slept, or its clock was set."""

    kind: Literal["sleep"]
    lost_ms: Annotated[
        int,
        Field(ge=-MAX_MS, le=MAX_MS, description="By how much the wall clock ran ahead of the page's."),
    ]


class See(PageEvent):
    """The share of an item that is in the viewport from now on."""

    kind: Literal["see"]
    side: Side
    item: Item
    share: Annotated[
        Share,
        Field(description="Of its height; of the screen that it fills, for an item taller than the screen."),
    ]


class Layer(PageEvent):
    """A second layer was opened or closed."""

    kind: Literal["layer"]
    side: Side
    item: Item
    open: Annotated[bool, Field(description="Opened, or closed.")]


class Scroll(PageEvent):
    """The page was scrolled further than ever."""

    kind: Literal["scroll"]
    depth: Annotated[Share, Field(description="The deepest share of the page shown so far.")]


class Chosen(PageEvent):
    """Choice of an option, before or at the submission of the form.

    choice: an option was picked, but not yet sent. submit: the form was sent with it.
    """

    kind: Literal["choice", "submit"]
    choice: Choice


AnyEvent: TypeAlias = Annotated[
    Open | LayoutChange | Moment | Sleep | See | Layer | Scroll | Chosen, Field(discriminator="kind")
]


class Batch(_Form):
    """One delivery of a page's events, as POST /e/TOKEN takes it.

    The table events of a raw export has the events as they were stored: n is its column number, ms page_ms, wall
    wall_ms; what a kind adds stands in detail, as JSON.
    """

    page: Annotated[
        str,
        StringConstraints(min_length=1, max_length=1_000),
        Field(description="The page token, from data-page of the page's body."),
    ]
    sent_ms: Annotated[PageClock, Field(description="The page's clock at sending.")]
    sent_wall_ms: Annotated[WallClock, Field(description="The wall clock at sending.")]
    events: Annotated[
        list[AnyEvent],
        Field(max_length=MAX_EVENTS, description="In any order; what is stored already is left as it is."),
    ]


_BATCH = TypeAdapter(Batch)


def read_batch(body: bytes) -> Batch:
    """Parse a batch of events.

    It raises `BadBatchError` with the first fault and its key path.
    """
    try:
        return _BATCH.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        path = ".".join(str(part) for part in first["loc"]) or "batch"
        raise BadBatchError(f"{path}: {first['msg']}") from error


def events_schema() -> str:
    """Return the JSON Schema of a batch, as JSON.

    docs/events.schema.json and each raw export hold it.
    """
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **_BATCH.json_schema()}
    return json.dumps(schema, indent=2) + "\n"
