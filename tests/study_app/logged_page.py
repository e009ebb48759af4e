"""One page as it was logged: its texts, and short ways to write its events."""

from study_app.logs.dwell import LoggedEvent, read_page
from study_app.protocol.items import Item

SHORT = Item(key="f0", id="u0", kind="iunit", words=10, chars=40, weight=10)
LONG = Item(key="f1", id="u1", kind="iunit", words=30, chars=120, weight=30)
LINK = Item(key="f2", id="i1", kind="link", words=2, chars=8, weight=2)
INNER = Item(key="s2.0", id="u2", kind="iunit", words=20, chars=80, weight=20, layer="f2")
TEXTS = {"left": (SHORT, LONG, LINK, INNER), "right": (SHORT,)}
WALL = 1_767_225_600_000


def log(*happenings, first=1):
    """Events numbered from ``first``: (milliseconds, kind) or (milliseconds, kind, detail)."""
    return [
        LoggedEvent(number, kind, ms, WALL + ms, detail[0] if detail else {})
        for number, (ms, kind, *detail) in enumerate(happenings, start=first)
    ]


def opened(layout="stacked"):
    return {"layout": layout, "width": 390, "height": 844, "restored": False}


def sees(item, share, side="left"):
    return {"side": side, "item": item, "share": share}


def turns(item, is_open, side="left"):
    return {"side": side, "item": item, "open": is_open}


def dwell(events):
    return {place: item.dwell_seconds for place, item in read_page(events, TEXTS).items.items()}
