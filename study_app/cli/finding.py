"""What `prefcal doctor` finds: one thing that it looked at, how grave it is, and what to do."""

from dataclasses import dataclass
from typing import Final, Literal

OK: Final = "ok"
WARNING: Final = "warning"
FAULT: Final = "fault"
NOTE: Final = "note"
State = Literal["ok", "note", "warning", "fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at.

    Attributes
    ----------
    what : str
        What was looked at.
    state : {'ok', 'note', 'warning', 'fault'}
        A fault loses answers or keeps workers out; a warning may. A note is of what cannot be seen from here.
    found : str
        What there is.
    cure : str
        What to do; empty when nothing is to be done.
    """

    what: str
    state: State
    found: str
    cure: str = ""
