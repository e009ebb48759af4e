"""A worker's way from the platform to the completion code, by Flask's client and the forms in the pages."""

from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from study_app.services.worker.answers import finish
from study_app.services.worker.worker_progress import load_progress
from study_app.store.database import transaction
from study_app.store.models import Ballot, Judgment, Showing, Slot, Worker
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import seeded_tokens
from tests.study_app.small_study import INTENTS, QUERIES, pairs_task, votes_task


def judgments(campaign):
    """Return (place of the pair, revision, choice) of everything stored."""
    return [
        tuple(row)
        for row in campaign.rows(
            select(Showing.position, Judgment.revision, Judgment.choice)
            .join(Judgment.showing)
            .order_by(Judgment.id)
        )
    ]


def test_the_whole_way(campaign):
    """Consent, choose, search, three pairs and a repeat, finish, code."""
    study = campaign()
    ann = study.arrive()
    assert ann.step == "consent"
    assert ann.html.h1.get_text() == "A small study"
    assert [p.get_text() for p in ann.html.select("main p")][:2] == ["First paragraph.", "Second paragraph."]
    ann.send()
    assert ann.step == "1/choose"
    assert set(ann.options("topic").values()) == set(QUERIES.values())
    ann.send(topic="1")
    assert ann.step == "1/1/search"
    study.clock.forward(80)
    ann.send()
    for pair, choice in enumerate(["left", "right", "equally_good", "equally_bad"], start=1):
        assert ann.step == f"1/1/pair/{pair}"
        ann.send(choice=choice)
    assert ann.step == "finish"
    ann.send()
    assert ann.step == "done"
    code = ann.html.select_one("[data-code]").get_text()
    [(worker,)] = study.rows(select(Worker))
    assert code == worker.completion_code
    assert len(code) >= 8
    assert worker.withdrawal_code in ann.text
    assert judgments(study) == [
        (1, 1, "left"),
        (2, 1, "right"),
        (3, 1, "equally_good"),
        (4, 1, "equally_bad"),
    ]


def test_every_step_is_answered_by_a_redirect(campaign):
    """Reloading an answer page can so never send a form twice."""
    study = campaign()
    ann = study.at_pairs()
    study.judge_all(ann).send()
    posts = [one for one in ann.log if one.request.method == "POST"]
    assert {one.status_code for one in posts} == {303}
    assert len(posts) == 8


def test_the_link_leads_back_to_where_the_worker_was(campaign):
    """A worker who closed the window goes on, by the study's link as well as by the platform's."""
    study = campaign()
    ann = study.at_pairs()
    ann.send(choice="left")
    assert study.visitor().open(ann.home).step == "1/1/pair/2"
    assert study.arrive("ann").step == "1/1/pair/2"
    assert len(study.rows(select(Worker))) == 1


def test_a_later_step_is_not_open_and_nothing_can_be_skipped(campaign):
    """Forced browsing ends at the current step."""
    study = campaign()
    ann = study.arrive()
    for step in ("1/choose", "1/1/search", "1/1/pair/1", "finish", "done", "full", "withdrawn", "9/choose"):
        assert ann.open(ann.home + step).step == "consent"
    ann = study.at_pairs("bob")
    for step in ("1/1/pair/3", "1/2/pair/1", "1/1/pair/99", "1/1/vote", "2/1/pair/1", "finish"):
        assert ann.open(ann.home + step).step == "1/1/pair/1"


def test_back_and_another_choice_is_a_new_revision_that_counts(campaign):
    """The earlier page opens with its answer; after changing it the worker is where they were."""
    study = campaign()
    ann = study.at_pairs()
    ann.send(choice="left").send(choice="right")
    ann.open(ann.home + "1/1/pair/1")
    assert ann.checked("choice") == ["left"]
    ann.send(choice="equally_bad")
    assert ann.step == "1/1/pair/3"
    assert judgments(study) == [(1, 1, "left"), (2, 1, "right"), (1, 2, "equally_bad")]
    assert ann.open(ann.home + "1/1/pair/1").checked("choice") == ["equally_bad"]


def test_the_same_form_twice_is_stored_once(campaign):
    """Double clicks, retries of the browser, two tabs."""
    study = campaign()
    ann = study.at_pairs()
    form, path = ann.form(), ann.path
    ann.send(choice="left")
    for _ in range(3):
        ann.send(form=form, to=path, choice="left")
        assert ann.step == "1/1/pair/2"
    assert judgments(study) == [(1, 1, "left")]


def test_after_finishing_nothing_changes(campaign):
    """The code stands for what was stored when it was made."""
    study = campaign()
    ann = study.at_pairs()
    form, path = ann.form(), ann.path
    study.judge_all(ann).send()
    code = ann.html.select_one("[data-code]").get_text()
    before = judgments(study)
    assert ann.send(form=form, to=path, choice="right").step == "done"
    assert judgments(study) == before
    study.clock.forward(10**7)
    assert study.arrive("ann").html.select_one("[data-code]").get_text() == code


def test_there_is_no_code_before_every_row_is_there(campaign):
    """No data, no code: also not for a finish form sent early."""
    study = campaign()
    ann = study.at_pairs()
    ann.send(choice="left")
    ann.send(to=ann.home + "finish")
    assert ann.status == 403
    study.judge_all(ann.open(ann.home))
    finish = ann.form()
    ann.open(ann.home + "1/1/pair/1").send(form=finish, to=ann.home + "finish")
    assert ann.step == "done"
    bob = study.at_pairs("bob")
    bob.send(form=finish, to=bob.home + "finish")
    assert bob.status == 403
    codes = study.rows(select(Worker.completion_code, Worker.completed_at).order_by(Worker.number))
    assert codes[0][0]
    assert codes[1] == (None, None)


def test_finishing_itself_counts_the_rows(campaign):
    """Even if a finish page were shown by mistake."""
    study = campaign()
    study.at_pairs().send(choice="left")
    with transaction(study.database, write=True) as session:
        here = load_progress(session, StudyCache(), 1, now=study.clock(), lock=True)
        assert not finish(session, here, now=study.clock(), new_token=seeded_tokens(1))
    assert study.rows(select(Worker.completion_code)) == [(None,)]


def test_the_studys_own_code_and_the_platforms_return_button(campaign):
    """Prolific takes a fixed code by a link; the button is there at once."""
    study = campaign(platform="prolific", completion_code="C1ABC")
    ann = (
        study.visitor()
        .open("/s/small?PROLIFIC_PID=5e9088a8a4b6ed018b45ba7b&STUDY_ID=s1&SESSION_ID=x1")
        .send()
        .send(topic="1")
    )
    study.clock.forward(100)
    study.judge_all(ann.send()).send()
    assert ann.html.select_one("[data-code]").get_text() == "C1ABC"
    button = ann.html.select_one("a.button")["href"]
    assert button == "https://app.prolific.com/submissions/complete?cc=C1ABC"


def test_the_return_address_of_the_study_file_gets_the_code(campaign):
    """A generic platform's address with {code}."""
    study = campaign(return_url="https://panel.example/back?c={code}&x=1")
    ann = study.judge_all(study.at_pairs()).send()
    code = ann.html.select_one("[data-code]").get_text()
    assert parse_qs(urlsplit(ann.html.select_one("a.button")["href"]).query) == {"c": [code], "x": ["1"]}


def test_the_search_cannot_be_left_early(campaign):
    """The server's time counts; the page comes back with what is left, and no script is needed for it."""
    study = campaign()
    ann = study.arrive().send().send(topic="1")
    assert ann.html.select_one("[data-seconds-left]")["data-seconds-left"] == "80"
    study.clock.forward(59)
    ann.send()
    assert ann.status == 422
    assert ann.step == "1/1/search"
    assert "search for 21 seconds more" in ann.html.select_one("[role=alert]").get_text()
    assert ann.html.select_one("[data-seconds-left]")["data-seconds-left"] == "21"
    study.clock.forward(1)
    ann.send()
    assert ann.step == "1/1/pair/1"


def test_the_search_time_runs_from_the_first_showing_to_leaving(campaign):
    """Reloading and looking back change nothing."""
    study = campaign()
    ann = study.arrive().send().send(topic="1")
    begun = study.clock.time
    study.clock.forward(50)
    ann.open(ann.path)
    study.clock.forward(50)
    ann.send()
    left = study.clock.time
    study.clock.forward(50)
    ann.open(ann.home + "1/1/search")
    assert not ann.html.select("form")
    assert study.rows(select(Slot.search_shown_at, Slot.search_left_at)) == [(begun, left)]


def test_a_topic_once_taken_stays(campaign):
    """Its slot is held and its search begun; going back says so."""
    study = campaign()
    ann = study.arrive().send()
    form, path = ann.form(), ann.path
    topics = ann.options("topic")
    ann.send(topic="2")
    assert ann.html.select_one("[data-query]").get_text() == topics["2"]
    ann.send(form=form, to=path, topic="1")
    assert ann.html.select_one("[data-query]").get_text() == topics["2"]
    assert topics["2"] in ann.open(path).text
    assert not ann.html.select("form")
    assert len(study.rows(select(Slot))) == 1


def test_the_list_of_topics_has_an_order_of_each_workers_own(campaign):
    """What stands first is taken more often; so everybody gets another order, and always the same."""
    study = campaign()
    orders = {}
    for name in "abcdefgh":
        orders[name] = tuple(study.arrive(name).send().options("topic").values())
        assert tuple(study.arrive(name).options("topic").values()) == orders[name]
    assert len(set(orders.values())) == 2


def test_a_form_that_says_nothing_comes_back_with_the_reason(campaign):
    """422, the same page, and what is missing."""
    study = campaign()
    ann = study.arrive()
    assert ann.send(agree="no").status == 422
    ann.open(ann.home).send()
    for topic in ("", "0", "3", "x"):
        assert ann.send(topic=topic).status == 422
        assert ann.step == "1/choose"
    bob = study.at_pairs("bob")
    for choice in ("", "LEFT", "both"):
        assert bob.send(choice=choice).status == 422
        assert bob.html.select_one("[role=alert]") is not None
    assert judgments(study) == []


def test_consent_to_a_text_that_has_changed_is_asked_again(campaign):
    """The hash that is stored is that of the text that was read."""
    study = campaign()
    ann = study.arrive()
    study.load(consent="Quite another text.")
    ann.send()
    assert ann.status == 422
    assert "Quite another text." in ann.text
    ann.send()
    assert ann.step == "1/choose"


def test_votes_come_before_pairs_when_the_study_says_so(campaign):
    """Tasks in order; a study of two tasks has two choices."""
    study = campaign(tasks=[votes_task(), pairs_task()])
    ann = study.arrive().send()
    assert ann.step == "1/choose"
    ann.send(topic="1")
    assert ann.step == "1/1/vote"
    assert ann.html.select_one("[data-query]").get_text() in QUERIES.values()
    ann.send(intent=["1", "2"])
    assert ann.step == "2/choose"
    ann.send(topic="1")
    assert ann.step == "2/1/pair/1"
    assert study.judge_all(ann).send().step == "done"


def test_votes_are_ticks_or_none(campaign):
    """Nothing ticked is an answer when it is meant; a changed vote is a new revision, the same one nothing."""
    study = campaign(tasks=[votes_task()])
    ann = study.arrive().send().send(topic="1")
    vote, path = ann.form(), ann.path
    query = ann.html.select_one("[data-query]").get_text()
    intents = list(next(INTENTS[one] for one, text in QUERIES.items() if text == query))
    assert ann.send().status == 422
    assert ann.send(intent=["1"], none="1").status == 422
    assert ann.send(intent=["3"]).status == 422
    assert ann.send(none="1").step == "finish"
    ann.send(form=vote, to=path, none="1")
    ann.send(form=vote, to=path, intent=["2", "1"])
    ann.send(form=vote, to=path, intent=["1", "2"])
    assert ann.open(path).checked("intent") == ["1", "2"]
    stored = study.rows(select(Ballot.revision, Ballot.intents).order_by(Ballot.revision))
    assert stored == [(1, []), (2, intents)]


def test_several_queries_a_worker(campaign):
    """The next one is chosen when the first is done; the last that is left is no choice."""
    study = campaign(tasks=[pairs_task(queries_per_worker=2)])
    ann = study.arrive().send().send(topic="1")
    assert [ann.send(choice="left").step for _ in range(3)] == ["1/1/pair/2", "1/1/pair/3", "1/2/pair/1"]
    study.judge_all(ann)
    assert ann.send().step == "done"
    assert len(study.rows(select(Slot))) == 2


def test_a_study_of_one_query_has_no_choice_page(campaign):
    """The slot is taken with the consent."""
    study = campaign(tasks=[pairs_task()])
    folder = study.folder
    for kind, keep in (("queries", "SYQ-1"), ("iunits", "SYQ-1"), ("intents", "SYQ-1")):
        path = folder / f"{kind}.tsv"
        path.write_text("".join(line for line in path.read_text().splitlines(True) if line.startswith(keep)))
    for path in folder.glob("sys*.xml"):
        path.write_text("\n".join(line for line in path.read_text().splitlines() if "SYQ-2" not in line))
    study.load_file(folder / "study.yaml")
    ann = study.arrive().send()
    assert ann.step == "1/1/pair/1"
    assert ann.open(ann.home + "1/choose").step == "1/1/pair/1"


def test_without_a_search_phase_the_pairs_come_at_once(campaign):
    """search_seconds: 0."""
    study = campaign(tasks=[pairs_task()])
    assert study.arrive().send().send(topic="1").step == "1/1/pair/1"


@pytest.mark.parametrize(("language", "part"), [("en", "Part {} of {}"), ("ja", "全{1}パート中{0}番目")])
def test_every_page_of_a_study_with_several_tasks_says_which_part_it_is(campaign, language, part):
    """Beside how far one is within the part; once a page, in words; pages of no task and the study's ends say nothing."""
    tasks = [votes_task(language=language), pairs_task(language=language, search_seconds=60)]
    study = campaign(tasks=tasks)
    ann = study.arrive()
    said = {}

    def note():
        said[ann.step] = [" ".join(line.get_text().split()) for line in ann.html.select(".progress")]

    note()
    for answer in ({}, {"topic": "1"}, {"none": "1"}, {"topic": "1"}):
        ann.send(**answer)
        note()
    study.clock.forward(100)
    ann.send()
    note()
    pair = "Pair 1 of 3" if language == "en" else "3組中1組目"
    assert said == {
        "consent": [],
        "1/choose": [part.format(1, 2)],
        "1/1/vote": [part.format(1, 2)],
        "2/choose": [part.format(2, 2)],
        "2/1/search": [part.format(2, 2)],
        "2/1/pair/1": [f"{part.format(2, 2)} · {pair}"],
    }
    study.judge_all(ann)
    note()
    assert said["finish"] == []


def test_a_study_of_one_task_speaks_of_no_parts(campaign):
    """Only of the pairs."""
    ann = campaign(tasks=[pairs_task()]).arrive().send()
    assert ann.html.select(".progress") == []
    assert ann.send(topic="1").html.select_one(".progress").get_text(strip=True) == "Pair 1 of 3"


def test_a_part_that_is_full_is_not_counted(campaign):
    """The last place of the votes goes to somebody else, so the pairs are all there is."""
    study = campaign(tasks=[votes_task(votes_per_query=1), pairs_task()])
    for name in ("ann", "bob"):
        visitor = study.arrive(name).send()
        assert "Part 1 of 2" in visitor.text
        visitor.send(topic=next(iter(visitor.options("topic"))))
    cleo = study.arrive("cleo").send()
    assert cleo.step == "2/choose"
    assert cleo.html.select(".progress") == []
