"""docs/security-asvs.md judges every requirement of ASVS 5.0.0 of levels 1 and 2, each once."""

import re
from pathlib import Path

from tests.test_security_doc import functions_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "security-asvs.md").read_text(encoding="utf-8")
HIGHEST = (
    "1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4 "
    "5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 "
    "8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 "
    "11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 "
    "14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2"
)
"""Section -> its last requirement of level 1 or 2; those of level 3 come after."""

ALL = [
    f"V{section}.{number}"
    for section, last in (one.split(":") for one in HIGHEST.split())
    for number in range(1, int(last) + 1)
]
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| V")]


def test_every_requirement_of_levels_1_and_2_is_judged_once():
    """What is left out would look like what is met."""
    judged = []
    for numbers, *_ in ROWS:
        for number in numbers.split():
            judged += (
                [number] if number[-1] != "*" else [one for one in ALL if one.startswith(number.rstrip("*"))]
            )
    assert len(ALL) == 253
    assert sorted(judged) == sorted(ALL)


def test_every_verdict_is_one_of_four_with_a_reason_and_tests_that_exist():
    """Only what is not here needs no more words."""
    for numbers, _, verdict, *reason in ROWS:
        assert verdict.rstrip(" |") in {"met", "deployment", "not met", "none"}, numbers
        assert "".join(reason).strip() or verdict.startswith("none"), numbers
    for file, name in re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", PAGE):
        if not file.startswith("study_app/store/tokens"):
            assert (ROOT / "tests" / file).is_file()
            assert not name or name in functions_of(file), (file, name)
