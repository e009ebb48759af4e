"""docs/judges_worth.md names every column of the tables of judges, and the limits that the code has."""

from pathlib import Path

from calibration.agree.folder import JUDGES
from calibration.judges.assist import AGREEMENTS, FEW_TOPICS, MAX_WIDENING, WIN_RATES
from calibration.judges.beside_people import AS_GOOD
from calibration.judges.numbers import AXIS, NUMBERS, PEOPLE, TOPICS
from calibration.judges.people_in_turn import COST, MIN_PAIRS
from calibration.rank.folder import ASSISTED

DOC = Path(__file__).resolve().parents[1] / "docs" / "judges_worth.md"


def test_it_names_every_file_column_and_limit():
    text = DOC.read_text(encoding="utf-8")
    for name in (*JUDGES.values(), *NUMBERS, *TOPICS, *PEOPLE, *AXIS):
        assert f"`{name}`" in text, name
    assert f"no farther than {100 * AS_GOOD:.0f} points" in text
    assert f">= {COST}`" in text
    assert f"fewer than {MIN_PAIRS} such pairs" in text


def test_the_page_on_assisted_numbers_names_its_files_columns_and_limits():
    text = DOC.with_name("judges_assist.md").read_text(encoding="utf-8")
    for name in (JUDGES["assisted"], ASSISTED, *AGREEMENTS, *WIN_RATES):
        assert f"`{name}`" in text, name
    assert f"Below {FEW_TOPICS} topics" in text
    assert f"by more than {100 * (MAX_WIDENING - 1):.0f} %" in text
