"""What `make audit` says of a stored result: it is good news only if every package was looked up."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "benchmarks" / "audit_result.py"
NAMES = [
    line.partition("==")[0]
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    if "==" in line and line[0].isalpha()
]
SKIPPED = "Dependency not found on PyPI and could not be audited"


def said(tmp_path, dependencies):
    """Run the program over a result, as pip-audit writes it."""
    result = tmp_path / "audit.json"
    if dependencies is not None:
        result.write_text(json.dumps({"dependencies": dependencies, "fixes": []}), encoding="utf-8")
    command = [sys.executable, str(PROGRAM), str(ROOT / "requirements.lock"), str(result)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stderr


def looked_up(names, **vulns):
    return [{"name": name, "version": "1", "vulns": vulns.get(name, [])} for name in names]


def test_every_package_looked_up_and_nothing_known_is_well(tmp_path):
    """Whatever way of writing the names the index has."""
    code, err = said(tmp_path, looked_up([name.replace("-", "_").upper() for name in NAMES]))
    assert (code, err) == (
        0,
        f"audit: {len(NAMES)} of {len(NAMES)} packages were looked up; something is known against 0 of them\n",
    )


def test_packages_that_were_skipped_are_no_good_news(tmp_path):
    """pip-audit says that it knows no weakness when it could not look anything up."""
    skipped = [{"name": name, "skip_reason": SKIPPED} for name in NAMES]
    code, err = said(tmp_path, skipped)
    assert code == 1
    assert f"{len(NAMES)} of {len(NAMES)} packages were not looked up: {NAMES[0]}" in err
    assert SKIPPED in err
    code, err = said(tmp_path, [*looked_up(NAMES[1:]), skipped[0]])
    assert (code, f"1 of {len(NAMES)} packages were not looked up: {NAMES[0]}" in err) == (1, True)


def test_packages_that_the_result_does_not_name_are_no_good_news_either(tmp_path):
    """Nor is no result, or one that is cut."""
    assert said(tmp_path, looked_up(NAMES[1:]))[0] == 1
    assert said(tmp_path, [])[0] == 1
    code, err = said(tmp_path, None)
    assert (code, f"0 of {len(NAMES)} packages" in err) == (1, True)
    (tmp_path / "audit.json").write_text('{"dependencies": [', encoding="utf-8")
    assert said(tmp_path, None)[0] == 1


@pytest.mark.parametrize("number", [1, 2])
def test_a_known_weakness_is_named(tmp_path, number):
    """With the package that has it."""
    weak = {name: [{"id": "PYSEC-1", "fix_versions": []}] for name in NAMES[:number]}
    code, err = said(tmp_path, looked_up(NAMES, **weak))
    assert (code, f"audit: {NAMES[0]}: PYSEC-1" in err) == (1, True)
    assert f"known against {number} of them" in err
