"""Fixtures every test may use."""

import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.postgres_server import PostgresServer, postgres_server

# A machine that is busy is no fault of a test. The same examples are tried every time and everywhere, and none is kept for the
# next run; `make soak` draws new ones, and many. What fails there is printed with a line that draws it again.
EXAMPLES, MANY_EXAMPLES = 10, 500
SOAK = "soak"
settings.register_profile("same", deadline=None, max_examples=EXAMPLES, derandomize=True, database=None)
settings.register_profile(SOAK, deadline=None, max_examples=MANY_EXAMPLES, database=None, print_blob=True)
settings.load_profile("same")
SEED = 20_260_301
"""Of the order of tests, and of what they draw by Python's and numpy's common generators; `make soak` takes a new one each time."""

ROOT = Path(__file__).resolve().parents[1]
DATABASES = count(1)
MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 * 2**30


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the database on which every test of the server runs that is not about one of the two."""
    parser.addoption("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.addoption("--every-seed", action="store_true", help="draw as many studies as a test names")


@pytest.hookimpl(tryfirst=True)  # before pytest-randomly draws a seed
def pytest_configure(config: pytest.Config) -> None:
    """Draw the same every time, and let connections end with their engine.

    A command that runs here has no process of its own to end with. Nothing that is collected goes before the end: the garbage collector waits until all is there.
    """
    if config.getoption("hypothesis_profile") != SOAK:
        _draw_the_same(config)
    gc.disable()
    _files_in_memory()
    config.addinivalue_line("filterwarnings", "ignore:.*was deleted while still open:ResourceWarning")
    config.addinivalue_line("filterwarnings", "ignore:unclosed database in:ResourceWarning")


def _draw_the_same(config: pytest.Config) -> None:
    """Fix the seed of pytest-randomly, and draw no constants of modules: which are loaded depends on the tests before."""
    if config.getoption("randomly_seed", None) == "default":
        config.option.randomly_seed = SEED
    providers._get_local_constants = lambda: providers._local_constants


def _files_in_memory() -> None:
    """Put temporary files into memory, unless TMPDIR names a place: tests of databases take about a tenth more processor time on a disk.

    What is killed here is a process or a server, never the machine, so a disk would keep no more and lose no more. Memory must have
    room for them and let programs run, as the wheel's do.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize >= ROOM_BYTES and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


LONGEST = (
    "browser",
    "serving",
    "test_real_input.py",
    "test_loop.py",
    "test_real_streams.py",
    "test_cli_fit.py",
    "test_cli_never_pooled.py",
    "test_reading_people.py",
    "test_join_tables.py",
    "test_backup.py",
    "test_every_task.py",
    "test_database_check.py",
    "test_report.py",
    "test_streams_visits.py",
    "test_loop_streams.py",
    "test_wheel.py",
    "test_races.py",
    "test_migrations.py",
    "simulate",
    "test_preview.py",
    "test_patience_preferences.py",
    "test_patience_stops.py",
    "test_fit_study.py",
    "test_fit_people.py",
    "test_push_weights.py",
    "test_reading_speed.py",
    "test_durations.py",
    "test_lateness.py",
    "test_plan_search.py",
    "test_python_doc.py",
    "test_planning_doc.py",
)
"""Folders and files of tests that take longest."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what draws studies again and again, so that `make soak` can ask for it."""
    if "seeds" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.seeds)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no test process is left alone with it in the end."""
    items.sort(key=lambda item: not {*item.nodeid.partition("::")[0].split("/")} & {*LONGEST})


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was collected, and look seldom: thousands of tests took it half a second each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this test process."""
    with postgres_server() as server:
        yield server
        gc.collect()  # connections of engines that nobody holds any more end before their server


@pytest.fixture(scope="session")
def seeds(request: pytest.FixtureRequest) -> Callable[..., range]:
    """Return the seeds of so many drawn studies under `make soak`, otherwise of a tenth of them, or of ``least``."""
    divisor = 1 if request.config.getoption("every_seed") else 10
    return lambda number, least=0: range(max(number // divisor, least))


@pytest.fixture(scope="session")
def sqlite_in() -> Callable[[Path], str]:
    """Return the address of a new SQLite file in a folder."""
    return lambda folder: f"sqlite:///{folder / 'test.sqlite3'}"


@pytest.fixture(scope="session")
def postgres_in(postgres: PostgresServer) -> Callable[[Path], str]:
    """Return the address of a new, empty PostgreSQL database, whatever the folder."""
    return lambda _: postgres.new_database(f"t{next(DATABASES)}")


@pytest.fixture(scope="session")
def database_in(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """Return the address of a new, empty database of the kind that ``--database`` names."""
    wanted = "sqlite_in" if request.config.getoption("database") == "sqlite" else "postgres_in"
    return request.getfixturevalue(wanted)  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real judgments and reference values, beside the checkout or named by PREFCAL_SHARED."""
    folder = Path(os.environ.get("PREFCAL_SHARED", ROOT.parent / "shared"))
    if not (folder / "gold").is_dir():
        pytest.skip("needs the reference data, which is not part of the project")
    return folder
