"""Where people judged until one system led, rank, agree, fit and check say so."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import prefcal
from benchmarks.same_answers import STOPS, Crowd, judged_until
from calibration.checks.adaptive_stopping import adaptive_stopping
from calibration.tables.files import write_tables
from study_app.cli import cli

LEAD = "until a lead of 2, at most 9"


def votes(how: str, seed: int = 1) -> dict[str, pd.DataFrame]:
    return {"preferences": judged_until(STOPS[how], np.random.default_rng(seed))}


@pytest.mark.parametrize("how", [how for how in STOPS if how.startswith(("until", "3, and"))])
@pytest.mark.parametrize("has_times", [True, False])
def test_a_number_that_depends_on_the_answers_is_seen(how, has_times):
    """With the times of the answers and without."""
    tables = votes(how)
    if not has_times:
        tables = {"preferences": tables["preferences"].assign(decided_at=pd.NaT)}
    finding = adaptive_stopping(tables)["t"]

    assert finding.name == "adaptive_stopping"
    assert finding.p_value < 0.001


@pytest.mark.parametrize("how", [how for how in STOPS if not how.startswith(("until", "3, and"))])
def test_a_number_with_another_cause_is_not(how):
    """Fixed, drawn before, or left to chance."""
    assert not any(adaptive_stopping(votes(how, seed)) for seed in range(20))


def test_topics_that_differ_in_number_and_difficulty_are_no_sign():
    """Easy topics with three judgments of a pair and hard ones with seven."""
    rows = votes("5 each")["preferences"]
    hard = rows[rows["topic"] > "Q4"]
    easy = rows[rows["topic"] <= "Q4"].assign(choice="left")
    few = easy[easy["worker"] < "W3"]

    assert not adaptive_stopping({"preferences": pd.concat([few, hard], ignore_index=True)})


def test_rank_agree_fit_and_check_say_so(tmp_path):
    """And nothing where the number was fixed."""
    tables = votes(LEAD)
    runs = sorted({*tables["preferences"]["system_left"], *tables["preferences"]["system_right"]})
    scores = pd.DataFrame(
        [
            (run, f"Q{topic}", "mine", (place * 7 + topic) % 5)
            for topic in range(10)
            for place, run in enumerate(runs)
        ],
        columns=["run", "topic", "metric", "value"],
    )
    # systems of different pairs never meet, so all are compared with one
    joined = {"preferences": tables["preferences"].assign(system_right="common")}
    scores = pd.concat(
        [scores, scores[scores["run"] == runs[0]].assign(run="common", value=2)], ignore_index=True
    )
    scores = scores[scores["run"].isin({*joined["preferences"]["system_left"], "common"})]
    write_tables(joined, tmp_path / "tables")
    checked = CliRunner().invoke(cli, ["check", str(tmp_path / "tables")])

    assert any(note.endswith("(adaptive_stopping)") for note in prefcal.rank(joined).notes)
    assert any(": adaptive_stopping: " in line for line in prefcal.agree(joined, scores=scores).warnings)
    assert "The number of judgments depends on the answers" in checked.output
    (said,) = [row for row in prefcal.fit(joined).findings if row.name == "adaptive_stopping"]
    assert said.severity == "warning"
    assert "preference_krippendorff_alpha" in said.parameters
    fixed = {"preferences": Crowd().study(np.random.default_rng(1))}
    assert not any("adaptive_stopping" in note for note in prefcal.rank(fixed).notes)
