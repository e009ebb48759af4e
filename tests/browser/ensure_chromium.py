"""Find the Chromium that the browser tests drive; run as a script, install one where that is possible.

`PREFCAL_CHROMIUM` names it; else the first of the usual names on PATH, else what playwright has downloaded. Its
headless shell, the same browser without windows of its own, goes before the whole one: it takes half the time.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APT_INSTALL = (
    *("apt-get", "install", "--quiet", "--yes", "--no-install-recommends"),
    *("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10"),
)
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
    """Return the headless shell in the folder beside the whole browser's, else that browser where playwright would have put it."""
    folder = next(parent for parent in whole.parents if parent.name.startswith("chromium-"))
    beside = folder.with_name(folder.name.replace("chromium-", "chromium_headless_shell-"))
    return next(
        (program for program in (*beside.glob("*/*headless?shell"), whole) if program.is_file()), None
    )


def install_chromium() -> None:
    """Try the ways that need no question; whether one worked, `find_chromium` tells."""
    print("installing Chromium for the browser tests ...", file=sys.stderr)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _run("apt-get", "update", "--quiet")
        for package in (SHELL, "chromium"):
            if find_chromium() is None:
                _run(*APT_INSTALL, package)
    if find_chromium() is None:
        _run(sys.executable, "-m", "playwright", "install", "chromium")


def add_shell() -> None:
    """Give Debian's browser its headless shell, of the very version, where apt has it at hand; nothing else is changed."""
    asked = ("dpkg-query", "--show", "--showformat=${Version}", "chromium")
    if os.geteuid() == 0 and shutil.which("dpkg-query") and shutil.which("apt-get"):
        known = subprocess.run(asked, check=False, capture_output=True, text=True)
        if known.returncode == 0:
            _run(*APT_INSTALL, f"{SHELL}={known.stdout}")


def _run(*command: str) -> None:
    """Run a command quietly; it may fail."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=False, capture_output=True, env=environment)


def main() -> int:
    """Return 0 when there is a Chromium in the end."""
    if not os.environ.get("PREFCAL_CHROMIUM"):
        if find_chromium() is None:
            install_chromium()
        elif shutil.which(SHELL) is None:
            add_shell()
    if find_chromium() is None:
        print(CURE, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
