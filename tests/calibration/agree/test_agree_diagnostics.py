"""What `agree` says of who judged what, and that it prints no p where there are too few people or queries."""

import numpy as np
import pandas as pd

from calibration.agree.agree_tables import agree
from calibration.agree.judged_task import judged_tasks
from calibration.agree.score_sources import ScoreSources
from calibration.user_model.model import ParameterEntry, UserModel
from study_app.cli.results.agree_table import agreement_text
from tests.calibration.judged_summaries import TASK, study


def found(**size):
    return agree(ScoreSources(tables=study(**size)))


def names(result):
    return [one.name for one in result.diagnostics[TASK]]


def test_people_who_judge_several_queries_are_told_and_counted():
    """A sentence with the numbers, no warning: the intervals hold."""
    result = found(topics=6, workers=8)

    assert names(result) == ["crossed_workers", "side_effect"]
    assert "6.0 a worker on average, 6 at most" in result.diagnostics[TASK][0].sentence
    assert set(result.agreement["queries_per_worker"]) == {6.0}
    assert set(result.agreement["warnings"]) == {""}
    assert result.warnings == ()


def test_comparisons_without_the_effect_of_the_side_are_said_to_be_so():
    """However small the effect is: the difference is then not that of the two agreements in the table."""
    tables = study(topics=6, workers=8)
    result = agree(ScoreSources(tables=tables))
    (task,) = judged_tasks(tables)
    (served,) = judged_tasks(tables, drew_sides=[TASK])

    assert abs(task.side.side) < 0.12  # less than two standard errors
    assert "comparisons are made without that effect." in " ".join(agreement_text(result).split())
    assert not any("effect" in each.sentence for each in served.diagnostics)


def test_queries_that_share_their_people_are_not_exchanged():
    """One taste decides them together, so the signs of queries are not independent."""
    assert found(topics=6, workers=8).comparisons["p_sign_flip"].isna().all()


def test_with_too_few_people_or_queries_there_is_no_p():
    """And the row says why, in a column and in a sentence."""
    for size, name in (({"workers": 3}, "few_workers"), ({"topics": 4}, "few_topics")):
        result = found(**size)

        assert result.comparisons[["p_t", "p_holm", "p_sign_flip"]].isna().all(axis=None)
        assert set(result.agreement["warnings"]) == {name}
        assert result.warnings[0].startswith(f"{TASK}: {name}: {size[next(iter(size))]} ")


def test_of_a_single_person_nothing_is_said_of_others():
    """No interval over queries alone takes the place of one over people."""
    result = found(workers=1)

    assert names(result) == ["few_workers", "side_effect"]
    assert (
        "1 worker judged, too few to estimate how much others differ: there are no intervals"
        in result.warnings[0]
    )
    assert result.agreement[["low", "high"]].isna().all(axis=None)
    assert result.comparisons[["low", "high", "p_t"]].isna().all(axis=None)


def test_where_nobody_knows_who_judged_intervals_are_over_queries_and_nothing_speaks_of_workers():
    """A crowd without ids is neither one person nor one person a vote."""
    tables = study(topics=8, workers=6)
    unknown = tables | {"preferences": tables["preferences"].assign(worker=None)}
    result = agree(ScoreSources(tables=unknown))

    assert names(result)[0] == "workers_not_known"
    assert result.agreement["low"].notna().any()
    assert result.agreement[["workers", "queries_per_worker"]].isna().all(axis=None)
    said = [one.sentence for one in result.diagnostics[TASK]]
    assert not any("worker" in sentence for sentence in said)
    own = tables["preferences"].assign(worker=[f"w{row}" for row in range(len(tables["preferences"]))])
    invented = agree(ScoreSources(tables=tables | {"preferences": own})).agreement
    assert np.allclose(invented["low"], result.agreement["low"], equal_nan=True)


def test_who_clicks_at_random_is_said():
    """Three of twelve; nobody is left out for it, and in a study without them nothing is said."""
    tables = study(topics=8, workers=12)
    rng = np.random.default_rng(1)
    clicked = tables["preferences"]
    some = clicked["worker"].isin(sorted(clicked["worker"].unique())[:3])
    clicked = clicked.assign(
        choice=clicked["choice"].where(~some, rng.choice(["left", "right"], len(clicked)))
    )
    said = agree(ScoreSources(tables=tables | {"preferences": clicked}))

    assert "careless_workers" in names(said)
    assert said.warnings[0].startswith(f"{TASK}: careless_workers: 3 of 12 judges")
    assert "careless_workers" not in names(agree(ScoreSources(tables=tables)))


def test_every_comparison_is_made_three_ways():
    """By majorities, by all votes, by a model of the votes; each corrected by itself."""
    rows = found(topics=6, workers=8).comparisons

    assert rows["by"].tolist() == ["majority", "weighted", "votes"]
    assert rows["p_t"].notna().all()
    assert np.array_equal(rows["p_holm"], rows["p_t"])


def test_measures_that_were_fitted_to_the_same_people_are_named():
    """Another query or another page is not another person."""
    model = UserModel(
        parameters={
            f"patience_chars_{name}": ParameterEntry(estimate=800.0) for name in ("preferences", "stops")
        }
    )
    stops = pd.DataFrame({"worker": ["w00", "w01", "x"]})
    tables = study() | {"item_visibility": stops}

    known = agree(ScoreSources(tables=tables, model=model)).diagnostics[TASK]
    of_others = agree(ScoreSources(tables=tables, model=model, same_tables=False)).diagnostics[TASK]

    sentences = [one.sentence for one in known if one.name == "same_people"]
    assert sentences[0].startswith("M@preferences: fitted to the other queries, which the same people judged")
    assert "M@stops: fitted to other data of the same study; 2 of the 8 workers who judged" in sentences[1]
    assert "same_people" not in [one.name for one in of_others if "M@stops" in one.sentence]


def test_a_camp_is_called_a_camp_and_nobody_is_advised_to_leave_anybody_out():
    """Four of twelve always prefer the other one: no carelessness, and the agreement without them stands beside."""
    tables = study(topics=8, workers=12)
    votes = tables["preferences"]
    some = votes["worker"].isin(sorted(votes["worker"].unique())[:4])
    turned = votes["choice"].map({"left": "right", "right": "left"}).fillna(votes["choice"])
    said = agree(
        ScoreSources(
            tables=tables | {"preferences": votes.assign(choice=votes["choice"].where(~some, turned))}
        )
    )

    (camp,) = (one for one in said.diagnostics[TASK] if one.name == "opposite_camp")
    assert "4 of 12 judges prefer the opposite of what the others prefer" in camp.sentence
    assert "Without them, agreement with a tie as half: M@1500 " in camp.sentence
    assert "careless_workers" not in names(said)
    assert not any("exclude" in one.sentence for one in said.diagnostics[TASK])
