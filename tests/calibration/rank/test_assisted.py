"""Assisted win rates: beside the ranking, and by plain loops."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import prefcal
from calibration.judges.assist import WIN_RATES
from calibration.rank.folder import ASSISTED, read_ranking, write_ranking
from calibration.rank.ranking import rank_systems
from calibration.tables.files import checked_tables
from metrics.errors import InputError

SYSTEMS = ("a", "b", "c", "d")


def tables(seed=1, *, topics=24, workers=10, unknown=False):
    """Draw votes of two people on two of the six pairs of every topic, and a judge that knows the systems and judges all."""
    rng = np.random.default_rng(seed)
    couples = [(one, other) for one in SYSTEMS for other in SYSTEMS if one < other]
    rows, worth = [], dict(zip(SYSTEMS, (0.8, 0.3, -0.3, -0.8), strict=True))
    for topic in range(topics):
        at = {system: value + rng.normal() for system, value in worth.items()}
        voted = rng.choice(len(couples), 2, replace=False)
        for number, couple in enumerate(couples):
            left, right = couple if rng.random() < 0.5 else couple[::-1]
            for worker in rng.choice(workers, 2, replace=False) if number in voted else ():
                lead = at[left] - at[right] + rng.logistic()
                choice = "equally_good" if abs(lead) < 0.3 else "left" if lead > 0 else "right"
                rows.append((f"w{worker}", f"q{topic:02d}", left, right, choice, None))
            rows.append(
                ("judge", f"q{topic:02d}", left, right, "left" if at[left] > at[right] else "right", 1)
            )
    names = ["worker", "topic", "system_left", "system_right", "choice", "order"]
    preferences = pd.DataFrame(rows, columns=names).assign(task="lists")
    if unknown:
        preferences["worker"] = preferences["worker"].where(preferences["worker"] == "judge")
    return {"preferences": preferences, "workers": pd.DataFrame({"worker": ["judge"], "kind": ["model"]})}


@pytest.mark.parametrize("unknown", [False, True])
def test_people_alone_are_those_of_the_ranking(unknown):
    """The same win rates and intervals, with the effect of the side taken off; and the assisted ones are narrower."""
    found = prefcal.rank(tables(unknown=unknown), assist="judge")
    assert tuple(found.assisted.columns) == WIN_RATES
    single = found.assisted[found.assisted["against"] == ""].set_index("system")
    ranking = found.ranking.set_index("system")
    for alone, ranked in (("people", "win_rate"), ("people_low", "win_low"), ("people_high", "win_high")):
        assert single[alone].to_numpy() == pytest.approx(ranking[ranked].to_numpy(), abs=2e-3)
    assert single["width_ratio"].mean() < 0.97
    assert (single["weight"] > 0.3).all()
    assert single["pairs_judge"].tolist() == [144] * 4
    differences = found.assisted[found.assisted["against"] != ""]
    assert differences["system"].unique().tolist() == [found.ranking["system"].iloc[0]]
    assert differences["people"].tolist() == pytest.approx(
        (single["people"].iloc[0] - single["people"].iloc[1:]).tolist()
    )


def test_a_judge_that_repeats_people_gives_its_own_win_rates():
    """Where votes are the judge's on every pair, win rates are those of the judge on all pairs, counted by plain loops."""
    drawn = tables(seed=3)
    preferences = drawn["preferences"]
    is_judge = preferences["worker"] == "judge"
    names = ["topic", "system_left", "system_right"]
    said = preferences[is_judge].set_index(names)["choice"]
    people = preferences[~is_judge]
    preferences.loc[~is_judge, "choice"] = said.loc[list(people[names].itertuples(index=False))].to_numpy()
    served = SimpleNamespace(drew_sides=lambda _: True, pairs_file=lambda _: None)
    study = rank_systems(checked_tables(drawn), study=served, assist=prefcal.read_verdicts(drawn))
    wins = dict.fromkeys(SYSTEMS, 0.0)
    for (_, left, right), choice in said.items():
        wins[left if choice == "left" else right] += 1 / (3 * 24)
    single = study.assisted[study.assisted["against"] == ""].set_index("system")
    for system, win in wins.items():
        assert single.loc[system, "weight"] == pytest.approx(1)
        assert single.loc[system, "estimate"] == pytest.approx(win)
    ranking = study.ranking.set_index("system")
    assert single["people_low"].to_numpy() == pytest.approx(ranking["win_low"].to_numpy())
    best, second = study.ranking["system"].iloc[:2]
    first = study.assisted[study.assisted["against"] == second].iloc[0]
    assert first["estimate"] == pytest.approx(wins[best] - wins[second])


def test_files_keep_it_and_forget_it(tmp_path):
    """assisted_win_rates.csv is read again, and deleted by a ranking without a judge."""
    drawn = tables()
    found = prefcal.rank(drawn, assist="judge")
    write_ranking(found, tmp_path)
    again = read_ranking(tmp_path).assisted
    assert again["estimate"].tolist() == pytest.approx(found.assisted["estimate"].tolist())
    write_ranking(prefcal.rank(drawn), tmp_path)
    assert not (tmp_path / ASSISTED).exists()
    assert read_ranking(tmp_path).assisted.empty


def test_a_judge_that_assists_nothing_is_refused():
    """Topics that are fixed, and verdicts on people's pairs only."""
    drawn = tables()
    with pytest.raises(InputError, match="rank over topics, without within"):
        prefcal.rank(drawn, assist="judge", within="topic")
    people = drawn["preferences"].query("worker != 'judge'")
    same = people.drop_duplicates(["topic", "system_left", "system_right"]).assign(worker="judge", order=1)
    drawn["preferences"] = pd.concat([people, same], ignore_index=True)
    with pytest.raises(InputError, match="judged no pair besides the 48 pairs that people judged"):
        prefcal.rank(drawn, assist="judge")
