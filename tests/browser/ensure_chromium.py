"""Find the Chromium that the browser tests drive; run as a script, install one where that is possible.

`PREFCAL_CHROMIUM` names it; else the first of the usual names on PATH, else what playwright has downloaded: the whole
browser, or its headless shell alone.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CURE = (
    "the browser tests need Chromium: install the package chromium, or run `python -m playwright install chromium`, "
    "or name a browser in PREFCAL_CHROMIUM"
)


def find_chromium() -> Path | None:
    """Return the browser's program, None when there is none.

    Asks playwright, which runs once a process only: where playwright runs already, it is too late for this.
    """
    named = os.environ.get("PREFCAL_CHROMIUM")
    if named:
        return Path(named) if Path(named).is_file() else None
    on_path = (shutil.which(name) for name in NAMES)
    return next((Path(program) for program in on_path if program), None) or _of_playwright()


def _of_playwright() -> Path | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return downloaded(Path(playwright.chromium.executable_path))


def downloaded(whole: Path) -> Path | None:
    """Return the whole browser where playwright would have put it, else the headless shell in the folder beside its own."""
    folder = next(parent for parent in whole.parents if parent.name.startswith("chromium-"))
    beside = folder.with_name(folder.name.replace("chromium-", "chromium_headless_shell-"))
    return next(
        (program for program in (whole, *beside.glob("*/*headless?shell")) if program.is_file()), None
    )


def install_chromium() -> None:
    """Try the ways that need no question; whether one worked, `find_chromium` tells."""
    print("installing Chromium for the browser tests ...", file=sys.stderr)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _run("apt-get", "update", "--quiet")
        _run("apt-get", "install", "--quiet", "--yes", "--no-install-recommends", "chromium")
    if find_chromium() is None:
        _run(sys.executable, "-m", "playwright", "install", "chromium")


def _run(*command: str) -> None:
    """Run a command quietly; it may fail."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=False, capture_output=True, env=environment)


def main() -> int:
    """Return 0 when there is a Chromium in the end."""
    if find_chromium() is None and not os.environ.get("PREFCAL_CHROMIUM"):
        install_chromium()
    if find_chromium() is None:
        print(CURE, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
