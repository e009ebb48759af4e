"""Which choice a text ends with, and what a file of answers may hold."""

import json
import multiprocessing

import pytest

from metrics.errors import InputError
from study_app.judges.answers import describe, open_answers, read_answers, read_choice
from study_app.judges.requests import read_requests
from tests.study_app.judges.requests_file import PROMPT, write_requests

CHOICES = ("A", "B", "equally_good", "equally_bad")


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("A", "A"),
        (" b.\n", "B"),
        ("[[B]]", "B"),
        ("**Answer: A**", "A"),
        ("Both cite. A is clearer.\n\nAnswer: A", "A"),
        ("Answer: A\nNo, wait.\nFinal answer: B", "B"),
        ("<think>Answer: A?</think>\nAnswer: equally good", "equally_good"),
        ("Answer: Equally-Bad", "equally_bad"),
        ("answer = `B`", "B"),
        ("Ａ", "A"),
        ("考えました。\nAnswer：Ｂ", "B"),
        ("tie", "equally_good"),
        ('```json\n{"reason": "short", "choice": "B"}\n```', "B"),
        ('{"choice": "A"} no: {"choice": "B"}', "B"),
        ("", None),
        ("I cannot judge this.", None),
        ("A is better than B", None),
        ("Answer: A or B", None),
        ("Answer: A\nAnswer: neither", None),
        ('{"choice": "C"}', None),
        ("\ud800", None),
    ],
)
def test_a_choice_is_read_only_where_nobody_can_doubt_it(text, choice):
    """The last word counts; what may be meant is not guessed."""
    assert read_choice(text, CHOICES) == choice


def answered(tmp_path, *lines):
    """Write lines of answers to three requests, and read them."""
    write_requests(tmp_path / "requests.jsonl", 3)
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return read_answers(path, read_requests(tmp_path / "requests.jsonl").requests)


def test_answers_of_a_program_of_ones_own_need_an_id_and_a_choice_or_a_text(tmp_path):
    """Everything else is optional; a choice that was not offered cannot be read."""
    answers = answered(
        tmp_path,
        {"id": f"{0:016x}", "choice": "A"},
        {"id": f"{1:016x}", "text": "Answer: B", "tokens": [5, 2], "prompt_sha256": PROMPT},
        {"id": f"{2:016x}", "choice": "C", "tokens": "many"},
    )
    assert answers == [
        {"id": f"{0:016x}", "choice": "A"},
        {"id": f"{1:016x}", "text": "Answer: B", "choice": "B", "tokens": [5, 2]},
        {"id": f"{2:016x}", "text": "C"},
    ]


def test_criteria_are_read_from_their_key_or_from_the_text(tmp_path):
    """Each for itself; one that nobody can read is missing and counted, and what was said is kept."""
    path = tmp_path / "requests.jsonl"
    write_requests(path, 4)
    asked = {
        "choices": ["A_much_better", "about_the_same", "B_much_better"],
        "criteria": ["correct", "c.lear"],
    }
    path.write_text(
        "".join(f"{json.dumps(json.loads(line) | asked)}\n" for line in path.read_text().splitlines())
    )
    requests = read_requests(path).requests
    lines = [
        {"choice": "B_much_better", "criteria": {"correct": "A_much_better", "c.lear": "C"}},
        {
            "text": "Criterion correct: none yet\nAnswer: tie\n**Criterion Correct:** a much better\nCriterion c.lear: Tie"
        },
        {
            "text": '{"choice": "A much better", "criteria": {"correct": "B_much_better"}}\nCriterion cXlear: tie'
        },
        {"text": "Answer: A"},
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(f"{json.dumps({'id': f'{n:016x}'} | line)}\n" for n, line in enumerate(lines)))
    read = read_answers(answers, requests)
    assert [(one.get("choice"), one.get("criteria")) for one in read] == [
        ("B_much_better", {"correct": "A_much_better"}),
        ("about_the_same", {"correct": "A_much_better", "c.lear": "about_the_same"}),
        ("A_much_better", {"correct": "B_much_better"}),
        (None, None),
    ]
    assert json.loads(read[0]["text"])["criteria"]["c.lear"] == "C"
    assert describe(read, requests) == (
        "3 answers, 1 that cannot be read (kept as text), 4 about criteria that cannot be read"
    )


def test_what_is_wrong_with_answers_is_a_line_each_with_its_count(tmp_path):
    """Where each begins, how often it comes, and its cure."""
    first = {"id": f"{0:016x}", "choice": "A"}
    with pytest.raises(InputError) as error:
        answered(
            tmp_path, first, first, {**first, "id": "x"}, {**first, "id": "y"}, {**first, "prompt_sha256": "e"},
            "nonsense", "[1]", {"id": f"{1:016x}"},
        )  # fmt: skip
    assert [str(fault).partition("answers.jsonl:")[2].partition(";")[0] for fault in error.value.faults] == [
        "2: this line answers a request that another line answers",
        "3: this line answers a request that there is not (and 1 fault more of this kind)",
        "5: this line answers another prompt",
        "6: this line is no answer (and 1 fault more of this kind)",
        "8: this line has neither choice nor text",
    ]


def test_half_a_line_at_the_end_is_dropped_and_a_whole_one_without_its_end_is_kept(tmp_path):
    """A killed run leaves the first; an editor the second."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "choice": "A"}\n{"id": "b", "cho')
    with open_answers(path) as file:
        assert file.dropped_line == 2
        file.add({"id": "c", "choice": "B", "text": "木 \ud800"})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["a", "c"]
    path.write_text('{"id": "a", "choice": "A"}')
    with open_answers(path) as file:
        assert file.dropped_line is None
        file.add({"id": "c", "choice": "B"})
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["a", "c"]


def _open(path, result):
    try:
        with open_answers(path):
            result.put("opened")
    except InputError as error:
        result.put(str(error))


def test_two_runs_cannot_write_one_file(tmp_path):
    """Each request would be asked twice."""
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    with open_answers(tmp_path / "answers.jsonl"):
        other = context.Process(target=_open, args=(tmp_path / "answers.jsonl", result))
        other.start()
        assert "another run is writing this file" in result.get(timeout=60)
        other.join()
