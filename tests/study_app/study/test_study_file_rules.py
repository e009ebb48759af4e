"""Study files of every kind of task: rules between keys, and how the faults of each kind read."""

import pytest
import yaml

from metrics.errors import InputError
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS

VOTES = {"kind": "intent_votes", "collection": {"queries": "f", "iunits": "f", "intents": "f"}}
PUSHES = {
    "kind": "stream_pairs",
    "collection": dict.fromkeys(("topics", "qrels", "clusters", "epochs", "texts"), "f"),
    "systems": {"one": "f", "two": "f"},
    "days": [20150720, 20150729],
}
EVENTS = dict.fromkeys(("topics", "nuggets", "matches", "updates"), "f")
RANKED = {
    "kind": "ranked_pairs",
    "collection": dict.fromkeys(("topics", "qrels", "windows", "texts"), "f"),
    "systems": {"one": "f", "two": "f"},
}
FOLLOWED = {"kind": "stream_visits", "collection": EVENTS, "systems": {"one": "f"}, "days": 5}
CHECKED = {"instructions": "standard", "check": [{"question": "Which?", "options": ["a", "b"], "answer": 2}]}


def asked(**question):
    """Return a task with one question, and changes to it."""
    return {"kind": "questions", "questions": [{"id": "age", "text": "Age?", "type": "number", **question}]}


def choice(**question):
    return asked(type="single", options=["yes", "no"], **question)


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a study of these tasks; every file it names is there."""
    (tmp_path / "f").touch()
    path = tmp_path / "study.yaml"

    def written_and_read(*tasks, **study):
        whole = {"study": "s", "title": "T", "consent": "C", **study, "tasks": list(tasks)}
        path.write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
        return read_study_file(path, KINDS)

    return written_and_read


@pytest.fixture
def faults(read):
    """Return a function that gives the faults without their places."""

    def faults_of(*tasks, **study):
        with pytest.raises(InputError) as caught:
            read(*tasks, **study)
        return [f"{fault.problem}; {fault.cure}" for fault in caught.value.faults]

    return faults_of


def test_every_kind_of_task_is_read(read):
    """Streams to be compared come from pushes or from events, whose days are their own."""
    paired = {**PUSHES, "collection": EVENTS, "days": None, "name": "updates"}
    study = read(VOTES, PUSHES, paired, RANKED, FOLLOWED, {**choice(), **CHECKED})
    assert [task.name for task in study.entry.tasks] == [
        "intent_votes", "stream_pairs", "updates", "ranked_pairs", "stream_visits", "questions",
    ]  # fmt: skip
    assert study.entry.tasks[1].days == ("20150720", "20150729")
    assert study.line("tasks", 5, "check", 0, "answer") > study.line("tasks", 5, "check")


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ({**VOTES, "check": CHECKED["check"]}, "a check without instructions; add instructions: standard"),
        ({**VOTES, **CHECKED, "check": [{**CHECKED["check"][0], "answer": 3}]}, "answer 3 of 2 options; write"),
        (
            {**VOTES, **CHECKED, "check": [{"question": "Why?", "options": ["a"], "answr": 1}]},
            "tasks.1.check.1.options has too few entries, got a list; write a list of options",
        ),
        ({**PUSHES, "days": None}, "days is missing; write days: [YYYYMMDD, YYYYMMDD]"),
        ({**PUSHES, "days": [20150729, 20150720]}, "the first day is after the last; exchange them"),
        ({**PUSHES, "days": [20150231, 20150720]}, "there is no day 20150231; write each as YYYYMMDD"),
        (
            {**PUSHES, "days": [20150101, 20151231]},
            "365 days are more than anybody can judge on a page; take 100 days or fewer",
        ),
        ({**PUSHES, "days": [20150729]}, "tasks.1.days has too few entries; write days: [YYYYMMDD, YYYYMMDD]"),
        ({**PUSHES, "collection": EVENTS}, "days are those of the events; remove days"),
        (
            {**PUSHES, "collection": "f"},
            "tasks.1.collection must be a group of keys, got 'f'; write topics: FILE, qrels: FILE",
        ),
        (
            {**PUSHES, "reveal_silent_days": "often"},
            "tasks.1.reveal_silent_days must be 'random', got 'often'; write true, false or random",
        ),
        (
            {**PUSHES, "pairs": {"adaptive": "best", "budget": 5, "stop_at": 1.5}},
            "tasks.1.pairs.stop_at must be less than 1, got '1.5'; write a probability above 0.5",
        ),
        ({**RANKED, "depht": 5}, "tasks.1.depht is not known; did you mean 'depth'?"),
        ({**RANKED, "primary": ["MMeasure"]}, "tasks.1.primary has too few entries; write a list of two"),
        ({**RANKED, "primary": ["RBP", "RBP"]}, "a measure is compared with itself; name two"),
        (asked(options=["a", "b"]), "a number question has no options; remove them, or write type: single"),
        (asked(min=5, max=2), "min is more than max; exchange them"),
        (asked(type="single"), "a single question needs two options at least; list its options"),
        (asked(type="multiple", options=["a", "a"]), "two options are the same; keep one of them"),
        (choice(screen_out=["maybe"]), "'maybe' is not one of the options; write it as it stands"),
        (choice(optoins=[]), "tasks.1.questions.1.optoins is not known; did you mean 'options'?"),
        (
            {"kind": "questions", "questions": asked()["questions"] * 2},
            "two questions are named 'age'; give each an id of its own",
        ),
        ({"kind": "questions"}, "tasks.1.questions is missing; write a list of questions, each beginning with"),
    ],
)  # fmt: skip
def test_a_rule_that_is_broken_is_named_with_its_cure(faults, task, found):
    """What contradicts itself is said before anybody sees it."""
    assert any(fault.startswith(found) for fault in faults(task))


@pytest.mark.parametrize(
    ("study", "found"),
    [
        (
            {"platform": "sona"},
            "missing return_url, which platform sona needs and only you know; write return_url: https:",
        ),
        (
            {"platform": "sona", "return_url": "https://x.sona-systems.com/?survey_code=XXXX"},
            "return_url without {id}: platform sona could not tell whom to credit; write {id} where",
        ),
        ({"id_parameter": "session"}, "extra_parameters has the id parameter 'session'; name other"),
        (
            {"currency": "euro"},
            "currency has a form that is not allowed, got 'euro'; write the three letters",
        ),
        ({"platform_fee": 25}, "platform_fee must be at most 1, got '25'; write it as a share"),
        ({"reward": float("inf")}, "reward must be a finite number, got 'inf'; correct it"),
        ({"reward": float("nan")}, "reward must be a finite number, got 'nan'; correct it"),
        ({"codes": {"partail": "X1"}}, "codes.partail is not known; did you mean 'partial'?"),
        ({"codes": {"partial": "X"}}, "codes.partial has a form that is not allowed, got 'X'; write 2 to 64"),
    ],
)
def test_faults_of_the_study_itself_are_named(faults, study, found):
    """Platform, money and codes."""
    assert any(fault.startswith(found) for fault in faults(VOTES, **study))


def test_streams_of_one_study_have_one_clock(faults):
    """Their away times are put together."""
    other = {**FOLLOWED, "name": "others", "clock_factor": 24}
    assert faults(FOLLOWED, other) == [
        "tasks.2.clock_factor is 24, but 1 in task 1; give all stream_visits of a study the same clock_factor"
    ]
