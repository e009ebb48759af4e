"""The one way to kill a page as a phone does that needs its memory: its process ends, and nothing is told to it before."""

import contextlib

from playwright.sync_api import Error, Page

KILL_URL = "chrome://kill"
"""Every Chromium ends the process of the page that is asked for this address, at once and without a crash dump.

No browser tells which of its processes is whose; most have several renderers for one page.
"""


def kill(page: Page) -> None:
    """End the page's process, which cannot say goodbye; raises playwright's `TimeoutError` when it lives on."""
    with page.expect_event("crash"), contextlib.suppress(Error):
        page.goto(KILL_URL)
    page.close()
