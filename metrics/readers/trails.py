"""Files of given users' trails, as JSON.

The form is ``{"users": [{"V": WORDS_A_SECOND, "session_away": [[SESSION, AWAY], ...]}, ...]}``. A user's first session begins at the start
of the topic; times are in seconds. Other members are not looked at. The file is UTF-8, plain or gzip.
"""

import math
from pathlib import Path

from metrics.errors import FaultLog
from metrics.msu.trails import GivenUsers, trails
from metrics.readers.trees import Node, items, member, read_json

USERS_CURE = 'write {"users": [{"V": 3.6, "session_away": [[120, 10800], [60, 7200]]}]}'
PAIR_CURE = "write [seconds of the session, seconds away], each 0 or more"


def read_trails(path: str | Path) -> GivenUsers:
    """Read and check given trails.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    GivenUsers
        Their trails as they are.

    Raises
    ------
    InputError
        With every fault: the file is not JSON; there are no users; a user has no reading speed above 0, no session, or
        a time that is no number of seconds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "trails.json"
    >>> _ = path.write_text('{"users": [{"V": 3.6, "session_away": [[120, 10800], [60, 7200]]}]}')
    >>> users = read_trails(path)
    >>> users.trails.speed.tolist()
    [3.6]
    """
    log = FaultLog(path)
    given = member(read_json(log), "users", log, cure=USERS_CURE)
    users = items(given, "users is", log, cure=USERS_CURE)
    if not users and not log.faults:
        log.add("there are no users", line=1, cure=USERS_CURE)
    trails_read = [(_speed(user, log), _times(user, log)) for user in users]
    log.raise_if_any()
    return GivenUsers(trails(trails_read))


def _speed(user: Node, log: FaultLog) -> float:
    """Read a user's reading speed in words per second."""
    node = member(user, "V", log, cure=USERS_CURE)
    speed = math.nan if node is None else _number(node)
    if node is not None and not 0 < speed < math.inf:
        log.add("V is no reading speed above 0", line=node.line, cure="write words per second, such as 3.6")
    return speed


def _times(user: Node, log: FaultLog) -> list[tuple[float, float]]:
    """Read a user's sessions and times away."""
    times: list[tuple[float, float]] = []
    node = member(user, "session_away", log, cure=USERS_CURE)
    pairs = items(node, "session_away is", log, cure=USERS_CURE)
    if node is not None and isinstance(node.value, list) and not pairs:
        log.add("session_away is empty", line=node.line, cure="write at least one session")
    for pair in pairs:
        seconds = [_number(one) for one in pair.value] if isinstance(pair.value, list) else []
        if len(seconds) == 2 and all(0 <= one < math.inf for one in seconds):
            times.append((seconds[0], seconds[1]))
        else:
            log.add("no session with its time away", line=pair.line, cure=PAIR_CURE)
    return times


def _number(node: Node) -> float:
    """Return a number, or NaN for anything else."""
    value = node.value
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
