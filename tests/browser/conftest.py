"""A headless Chromium, and the two screens of the studies: a phone's and a desktop's."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright

from tests.browser.ensure_chromium import CURE, find_chromium
from tests.browser.log_server import LogServer, log_server
from tests.browser.study_server import StudyServer, study_server

ROOT = Path(__file__).resolve().parents[2]
SWITCHED_OFF = (
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    *("ThirdPartyStoragePartitioning", "PreloadTopChromeWebUI"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
)
"""What playwright switches off itself, whose list a second one replaces, and last what starts processes for each new window.

The pages of the address bar, in a window that nobody sees, took as long as a whole short test.
"""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-rasterization",
    "--disable-software-rasterizer",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(SWITCHED_OFF)}",
)
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
    "user_agent": (
        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/130.0.0.0 Mobile Safari/537.36"
    ),
}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
SCREENS = {"phone": PHONE, "desktop": DESKTOP}
PATIENCE_MS = 30_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here as browser tests."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def databases(database_in: Callable[[Path], str]) -> None:
    """Put every study that is served here into a database of the kind that ``--database`` names."""
    StudyServer.address_in = staticmethod(database_in)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The program of the browser."""
    program = find_chromium()
    if program is None:
        pytest.skip(CURE)
    return program


@pytest.fixture(scope="session")
def playwright(chromium: Path) -> Iterator[Playwright]:
    """The driver, begun once the browser is found; it waits long for what a page is to show: a busy machine is no fault."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: Path) -> Iterator[Browser]:
    """One browser for the whole run; each test has a context, and so a storage, of its own."""
    running = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS])
    yield running
    running.close()


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    """A phone of 390x844 pixels with a touch screen."""
    yield from _context(browser, **PHONE)


@pytest.fixture
def desktop(browser: Browser) -> Iterator[BrowserContext]:
    """A desktop window of 1280x800 pixels."""
    yield from _context(browser, **DESKTOP)


def _context(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(**options)
    yield context
    context.close()


@pytest.fixture
def server() -> Iterator[LogServer]:
    """A server that keeps what a hand-made pair page sends."""
    with log_server() as running:
        yield running


@pytest.fixture
def no_script(browser: Browser) -> Iterator[BrowserContext]:
    """A phone with JavaScript turned off."""
    yield from _context(browser, **PHONE, java_script_enabled=False)


@pytest.fixture
def study(tmp_path: Path, browser: Browser) -> Iterator[StudyServer]:
    """The real server with a small study; it ends when nobody is connected any more."""
    with study_server(tmp_path) as running:
        yield running
        for context in browser.contexts:
            context.close()
