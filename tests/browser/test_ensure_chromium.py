"""Finding the browser, and saying in one line what to do when there is none."""

from pathlib import Path

import pytest

from tests.browser import ensure_chromium
from tests.browser.ensure_chromium import CURE, downloaded, find_chromium, main


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser; its only folder of programs."""
    monkeypatch.delenv("PREFCAL_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ensure_chromium, "_of_playwright", lambda: None)
    return tmp_path


def program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_browser_on_the_path_is_found(nowhere: Path) -> None:
    """Debian calls it chromium, others google-chrome; without windows it is quicker."""
    for name in ("google-chrome", "chromium", "chromium-headless-shell"):
        found = program(nowhere / name)
        assert find_chromium() == found


def test_a_named_browser_goes_before_any_other(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names one wants that one, and an error when it is not there."""
    program(nowhere / "chromium")
    monkeypatch.setenv("PREFCAL_CHROMIUM", str(program(nowhere / "mine")))
    assert find_chromium() == nowhere / "mine"
    monkeypatch.setenv("PREFCAL_CHROMIUM", str(nowhere / "gone"))
    assert find_chromium() is None


@pytest.mark.parametrize(
    ("browser", "shell"),
    [
        ("chrome-linux64/chrome", "chrome-headless-shell-linux64/chrome-headless-shell"),
        ("chrome-linux/chrome", "chrome-linux/headless_shell"),
        ("chrome-mac/Chromium.app/Contents/MacOS/Chromium", "chrome-mac/headless_shell"),
    ],
)
def test_of_what_playwright_downloaded_the_headless_shell_is_enough(
    tmp_path: Path, browser: str, shell: str
) -> None:
    """`playwright install --only-shell` brings no more, and it goes before the whole browser, which is slower."""
    whole, alone = tmp_path / "chromium-1255" / browser, tmp_path / "chromium_headless_shell-1255" / shell
    assert downloaded(whole) is None
    for one in (whole, alone):
        one.parent.mkdir(parents=True)
        program(one)
        assert downloaded(whole) == one


def test_without_a_browser_one_line_says_what_to_install(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After everything that can be tried without asking was tried."""
    tried: list[tuple[str, ...]] = []
    monkeypatch.setattr(ensure_chromium, "_run", lambda *command: tried.append(command))
    assert main() == 1
    assert tried[-1][-2:] == ("install", "chromium")
    assert capsys.readouterr().err.splitlines()[-1] == CURE


def test_a_browser_of_debian_gets_its_shell_of_the_same_version(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version would take other packages along with it."""
    tried: list[tuple[str, ...]] = []
    monkeypatch.setattr(ensure_chromium, "_run", lambda *command: tried.append(command))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for name in ("chromium", "apt-get"):
        program(nowhere / name)
    program(nowhere / "dpkg-query").write_text("#!/bin/sh\necho -n 156.0-1\n")
    assert main() == 0
    assert [command[-1] for command in tried] == ["chromium-headless-shell=156.0-1"]
