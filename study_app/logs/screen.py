"""Pure: the events of one page load -> what stood on its screen from moment to moment, and whether anybody could look at it.

The rules, where the log leaves a choice:

- A moment is so many milliseconds after the page was served, by the server's clock (`study_app.logs.dwell.server_times`).
- An item is on the screen with the share that its last `see` said; one inside a second layer only while that is open.
- What happens at nearly the same time is one moment, and more is taken together where a page tells of more than
  `MOST_MOMENTS`: a moment shows how things stood at its end.
- Between two events with a missing number, or where a page in sight stops beating, nobody knows what was on the screen:
  these spells are `missing` and `silent`. The others are `looked` (in sight, with the focus), `unfocused`, `hidden` and `closed`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from study_app.logs.dwell import LoggedEvent, Place, is_known, server_times

MOST_MOMENTS = 400
STEPS_MS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000)
"""Lengths of a moment, the shortest first; the last takes a page of two days and more."""

ACTS = frozenset(
    {"open", "layer", "choice", "submit", "leave", "visible", "hidden", "focus", "blur", "sleep", "close"}
)
"""Kinds of events that are told one by one."""


@dataclass(slots=True)
class Screen:
    """How a page stands; `happen` takes it on by one event.

    Attributes
    ----------
    shares : dict of Place to float
        Share of each item in the viewport, as it was last said; 0 for those that have gone.
    opened : set of Place
        Links whose second layer is open.
    read : set of Place
        Items that were wholly on the screen at some time.
    choice : str or None
        The option that is picked.
    width, height : int
        Of the window, in CSS pixels; 0 before the page said so.
    state : str
        looked, unfocused, hidden or closed.
    """

    shares: dict[Place, float] = field(default_factory=dict)
    opened: set[Place] = field(default_factory=set)
    read: set[Place] = field(default_factory=set)
    choice: str | None = None
    width: int = 0
    height: int = 0
    _visible: bool = True
    _focused: bool = True
    _closed: bool = False

    @property
    def state(self) -> str:
        """Whether somebody could look at it."""
        if self._closed:
            return "closed"
        if not self._visible:
            return "hidden"
        return "looked" if self._focused else "unfocused"

    @property
    def shown(self) -> dict[Place, float]:
        """What is on the screen, and how much of it."""
        return {place: share for place, share in self.shares.items() if share > 0 and self._is_open(place)}

    def _is_open(self, place: Place) -> bool:
        side, key = place
        return key[0] != "s" or (side, f"f{key[1:].partition('.')[0]}") in self.opened

    def happen(self, event: LoggedEvent) -> None:
        """Take one event in."""
        detail = event.detail
        match event.kind:
            case "see":
                place = (detail["side"], detail["item"])
                self.shares[place] = detail["share"]
                if detail["share"] == 1:
                    self.read.add(place)
            case "layer":
                place = (detail["side"], detail["item"])
                (self.opened.add if detail["open"] else self.opened.discard)(place)
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
    """What a page told at nearly one time.

    Attributes
    ----------
    at_ms : int
        The last of it, after the page was served.
    acts : tuple of LoggedEvent
        Events of `ACTS`.
    changed : mapping of Place to float
        Items of which another share is on the screen now than before, 0 for those that have gone.
    shown : int
        How many items are on the screen then.
    missing : int
        Events just before that never arrived.
    """

    at_ms: int
    acts: tuple[LoggedEvent, ...]
    changed: Mapping[Place, float]
    shown: int
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """A stretch in which a page was in one state."""

    from_ms: int
    to_ms: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStory:
    """What one page load told: its events by ascending number, and when each happened after the page was served."""

    events: Sequence[LoggedEvent]
    times_ms: Sequence[int]

    @classmethod
    def of(cls, events: Sequence[LoggedEvent], served_ms: int) -> "PageStory":
        """Return the story of a page that was served so many milliseconds after 1970."""
        return cls(events=events, times_ms=[time - served_ms for time in server_times(events, served_ms)])

    @property
    def end_ms(self) -> int:
        """When the last thing happened of which the page told."""
        return self.times_ms[-1] if self.times_ms else 0

    def screen(self, at_ms: int) -> Screen:
        """Return how the page stood at a moment."""
        screen = Screen()
        for event, time in zip(self.events, self.times_ms, strict=True):
            if time > at_ms:
                break
            screen.happen(event)
        return screen

    def state(self, at_ms: int) -> str:
        """Return the state at a moment; "over" after the last event."""
        return next((spell.state for spell in self.spells() if at_ms < spell.to_ms), "over")

    def spells(self) -> list[Spell]:
        """Return the stretches of different states, in order and without holes, from the first event to the last."""
        spells: list[Spell] = []
        for state, start, end in self._stretches():
            if spells and spells[-1].state == state:
                spells[-1] = Spell(from_ms=spells[-1].from_ms, to_ms=end, state=state)
            elif end > start:
                spells.append(Spell(from_ms=start, to_ms=end, state=state))
        return spells

    def _stretches(self) -> Iterator[tuple[str, int, int]]:
        screen = Screen()
        told = zip(self.events, self.times_ms, strict=True)
        for (before, start), (after, end) in pairwise(told):
            screen.happen(before)
            state = screen.state
            if after.number != before.number + 1:
                state = "missing"
            elif state in {"looked", "unfocused"} and end > start and not is_known(before, after):
                state = "silent"
            yield state, start, end

    def moments(self) -> list[ScreenMoment]:
        """Return at most about `MOST_MOMENTS` moments at which something changed, in order."""
        for step in STEPS_MS:
            groups = self._groups(step)
            if len(groups) <= MOST_MOMENTS or step == STEPS_MS[-1]:
                break
        screen, moments = Screen(), []
        for group in groups:
            before, number = screen.shown, self.events[group[0] - 1].number if group[0] else 0
            for place in group:
                screen.happen(self.events[place])
            after = screen.shown
            moments.append(
                ScreenMoment(
                    at_ms=self.times_ms[group[-1]],
                    acts=tuple(self.events[place] for place in group if self.events[place].kind in ACTS),
                    changed={
                        one: after.get(one, 0.0)
                        for one in before | after
                        if before.get(one) != after.get(one)
                    },
                    shown=len(after),
                    missing=self.events[group[-1]].number - number - len(group),
                )
            )
        return [moment for moment in moments if moment.acts or moment.changed or moment.missing]

    def _groups(self, step_ms: int) -> list[list[int]]:
        """Return the places of the events, those together that happened within a step of the first of them."""
        groups: list[list[int]] = []
        for place, time in enumerate(self.times_ms):
            if groups and time - self.times_ms[groups[-1][0]] < step_ms:
                groups[-1].append(place)
            else:
                groups.append([place])
        return groups
