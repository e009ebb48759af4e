"""Screen of a page load from moment to moment, computed from its events; pure.

The rules, where the log leaves a choice:

- A moment is a time in milliseconds after the page was served, by the server's clock (`study_app.logs.logged_events.server_times`).
- An item is on the screen with the share that its last `see` said; one inside a second layer only while that is open.
- Events at nearly the same time are one moment, and moments become longer where a page has more than
  `MAX_MOMENTS`: a moment shows the screen at its end.
- Between two events with a missing number, or where a page in sight stops beating, the screen is unknown:
  these spells are `missing` and `silent`. The others are `looked` (in sight, with the focus), `unfocused`, `hidden` and `closed`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from study_app.logs.logged_events import ItemKey, LoggedEvent, is_known, server_times

MAX_MOMENTS = 400
"""Most moments that a page is shown in, so that a replay stays readable."""
STEPS_MS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000)
"""Lengths of a moment in milliseconds, tried in order; the last suffices."""

ACTS = frozenset(
    {"open", "layer", "choice", "submit", "leave", "visible", "hidden", "focus", "blur", "sleep", "close"}
)
"""Kinds of events that are listed one by one."""


@dataclass(slots=True)
class ScreenState:
    """State of a page; `happen` applies one event.

    Attributes
    ----------
    shares : dict of ItemKey to float
        Share of each item in the viewport, as last logged; 0 for items that left it.
    opened : set of ItemKey
        Links whose second layer is open.
    read : set of ItemKey
        Items that were wholly on the screen at some time.
    choice : str or None
        The option that is picked.
    width, height : int
        Of the window, in CSS pixels; 0 before the page said so.
    state : str
        looked, unfocused, hidden or closed.
    """

    shares: dict[ItemKey, float] = field(default_factory=dict)
    opened: set[ItemKey] = field(default_factory=set)
    read: set[ItemKey] = field(default_factory=set)
    choice: str | None = None
    width: int = 0
    height: int = 0
    _visible: bool = True
    _focused: bool = True
    _closed: bool = False

    @property
    def state(self) -> str:
        """State of the page: looked, unfocused, hidden or closed."""
        if self._closed:
            return "closed"
        if not self._visible:
            return "hidden"
        return "looked" if self._focused else "unfocused"

    @property
    def shown(self) -> dict[ItemKey, float]:
        """Share on the screen of each item that is visible there."""
        return {item: share for item, share in self.shares.items() if share > 0 and self._is_open(item)}

    def _is_open(self, place: ItemKey) -> bool:
        side, key = place
        return key[0] != "s" or (side, f"f{key[1:].partition('.')[0]}") in self.opened

    def apply_event(self, event: LoggedEvent) -> None:
        """Apply one event."""
        detail = event.detail
        match event.kind:
            case "see":
                item_key = (detail["side"], detail["item"])
                self.shares[item_key] = detail["share"]
                if detail["share"] == 1:
                    self.read.add(item_key)
            case "layer":
                item_key = (detail["side"], detail["item"])
                (self.opened.add if detail["open"] else self.opened.discard)(item_key)
            case "open":
                self._closed = False
                self.width, self.height = detail["width"], detail["height"]
            case "visible" | "hidden":
                self._visible = event.kind == "visible"
            case "focus" | "blur":
                self._focused = event.kind == "focus"
            case "choice" | "submit":
                self.choice = detail["choice"]
            case "close":
                self._closed = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenMoment:
    """Events and changes of a page at nearly one time.

    Attributes
    ----------
    at_ms : int
        Time of its last event, after the page was served.
    acts : tuple of LoggedEvent
        Events of `ACTS`.
    changed : mapping of ItemKey to float
        New share of each item whose share on the screen changed, 0 for items that left it.
    shown : int
        How many items are on the screen then.
    missing : int
        Events just before that never arrived.
    """

    at_ms: int
    acts: tuple[LoggedEvent, ...]
    changed: Mapping[ItemKey, float]
    shown: int
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StateInterval:
    """Stretch of time in which a page was in one state."""

    from_ms: int
    to_ms: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStory:
    """Events of one page load by ascending number, with their times after serving."""

    events: Sequence[LoggedEvent]
    times_ms: Sequence[int]

    @classmethod
    def of(cls, events: Sequence[LoggedEvent], served_ms: int) -> "PageStory":
        """Return the story of a page served at ``served_ms`` (milliseconds since 1970)."""
        return cls(events=events, times_ms=[time - served_ms for time in server_times(events, served_ms)])

    @property
    def end_ms(self) -> int:
        """Time of the page's last event."""
        return self.times_ms[-1] if self.times_ms else 0

    def screen(self, at_ms: int) -> ScreenState:
        """Return the screen state at a time."""
        screen = ScreenState()
        for event, time in zip(self.events, self.times_ms, strict=True):
            if time > at_ms:
                break
            screen.apply_event(event)
        return screen

    def state(self, at_ms: int) -> str:
        """Return the state at a time; "over" after the last event."""
        return next((spell.state for spell in self.spells() if at_ms < spell.to_ms), "over")

    def spells(self) -> list[StateInterval]:
        """Return the stretches of different states, from the first event to the last.

        They are in order and without gaps.
        """
        spells: list[StateInterval] = []
        for state, start, end in self._stretches():
            if spells and spells[-1].state == state:
                spells[-1] = StateInterval(from_ms=spells[-1].from_ms, to_ms=end, state=state)
            elif end > start:
                spells.append(StateInterval(from_ms=start, to_ms=end, state=state))
        return spells

    def _stretches(self) -> Iterator[tuple[str, int, int]]:
        screen = ScreenState()
        timed_events = zip(self.events, self.times_ms, strict=True)
        for (before, start), (after, end) in pairwise(timed_events):
            screen.apply_event(before)
            state = screen.state
            if after.number != before.number + 1:
                state = "missing"
            elif state in {"looked", "unfocused"} and end > start and not is_known(before, after):
                state = "silent"
            yield state, start, end

    def moments(self) -> list[ScreenMoment]:
        """Return the moments at which something changed, at most about `MAX_MOMENTS`."""
        for step in STEPS_MS:
            groups = self._groups(step)
            if len(groups) <= MAX_MOMENTS or step == STEPS_MS[-1]:
                break
        screen, moments = ScreenState(), []
        for group in groups:
            before, number = screen.shown, self.events[group[0] - 1].number if group[0] else 0
            for index in group:
                screen.apply_event(self.events[index])
            after = screen.shown
            moments.append(
                ScreenMoment(
                    at_ms=self.times_ms[group[-1]],
                    acts=tuple(self.events[index] for index in group if self.events[index].kind in ACTS),
                    changed={
                        item: after.get(item, 0.0)
                        for item in before | after
                        if before.get(item) != after.get(item)
                    },
                    shown=len(after),
                    missing=self.events[group[-1]].number - number - len(group),
                )
            )
        return [moment for moment in moments if moment.acts or moment.changed or moment.missing]

    def _groups(self, step_ms: int) -> list[list[int]]:
        """Return the indices of events, grouped within a step of the group's first."""
        groups: list[list[int]] = []
        for index, time in enumerate(self.times_ms):
            if groups and time - self.times_ms[groups[-1][0]] < step_ms:
                groups[-1].append(index)
            else:
                groups.append([index])
        return groups
