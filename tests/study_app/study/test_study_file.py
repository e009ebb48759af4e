"""Reading a study file: what it says, its defaults, and every fault at its line with a cure."""

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metrics.errors import InputError
from study_app.study.faults import CURES
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS

SHORTEST = """\
study: small
title: A small study
consent: |
  Please take part.

  Thank you.
tasks:
  - kind: summary_pairs
    collection: {queries: q.tsv, iunits: u.tsv, intents: i.tsv}
    systems:
      good: runs/good.xml
      bad: runs/bad.xml
"""


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a text as study file and reads it."""
    path = tmp_path / "study.yaml"

    def write_and_read(text):
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_study_file(path, KINDS)

    return write_and_read


@pytest.fixture
def faults(read, tmp_path):
    """Return a function that gives the faults of a text, as `LINE: problem; cure`; all files are there."""
    (tmp_path / "runs").mkdir()
    for name in ("q.tsv", "u.tsv", "i.tsv", "runs/good.xml", "runs/bad.xml"):
        (tmp_path / name).touch()

    def faults_of(text):
        with pytest.raises(InputError) as caught:
            read(text)
        return [str(fault).removeprefix(f"{tmp_path / 'study.yaml'}:") for fault in caught.value.faults]

    return faults_of


def test_the_shortest_study_has_the_papers_protocol(read):
    """Numbers of two-layered-summaries 4.2 where the file says nothing."""
    study = read(SHORTEST).entry
    [task] = study.tasks
    assert (study.study, study.platform, study.device, study.seed, study.lease_minutes) == (
        "small",
        "generic",
        "any",
        1,
        45,
    )
    assert (task.name, task.language, task.systems) == (
        "summary_pairs",
        "en",
        {"good": "runs/good.xml", "bad": "runs/bad.xml"},
    )
    assert (task.search_seconds, task.min_search_seconds, task.min_consistency) == (180, 200, 0.4)
    assert (task.workers_per_query, task.queries_per_worker) == (14, 1)
    assert (task.pairs, task.validation_pairs, task.validation_swapped) == ("all", 3, True)
    assert task.criteria == KINDS["summary_pairs"].criteria["en"]


def test_the_criteria_are_in_the_tasks_language(read):
    """Unless the study has its own; an empty list shows none."""
    for added, expected in (
        ("    language: ja\n", KINDS["summary_pairs"].criteria["ja"]),
        ("    criteria: [Shorter?]\n", ("Shorter?",)),
        ("    criteria: []\n", ()),
    ):
        [task] = read(SHORTEST + added).entry.tasks
        assert task.criteria == expected


def test_null_is_no_limit(read):
    """As product.md says."""
    [task] = read(SHORTEST + "    workers_per_query: null\n").entry.tasks
    assert task.workers_per_query is None


def test_places_have_lines(read):
    """So that whatever is found later can be shown where it stands."""
    study = read(SHORTEST)
    assert study.line("title") == 2
    assert study.line("tasks", 0, "systems", "bad") == 12
    assert study.line("tasks", 0, "pairs") == 8


def test_an_anchor_may_spare_writing_a_collection_twice(read):
    """YAML's own means are welcome."""
    text = SHORTEST.replace("collection: {", "collection: &files {") + (
        "  - kind: intent_votes\n    collection: *files\n"
    )
    pairs, votes = read(text).entry.tasks
    assert pairs.collection == votes.collection


def test_missing_files_come_with_the_faults_of_the_file(faults, tmp_path):
    """Whoever mends a number should not find the next fault only then; what is no path is left to the schema."""
    (tmp_path / "i.tsv").unlink()
    text = SHORTEST.replace("good.xml", "x" * 300) + "    search_seconds: -1\n"
    text += "  - kind: intent_votes\n    collection: {queries: 5}\n  - kind: no\n    collection: []\n  - 7\n"
    found = faults(text)
    assert found[:3] == [
        "9: collection.intents: there is no file i.tsv; correct the path; it is relative to the study file",
        f"11: systems.good: there is no file runs/{'x' * 300}; correct the path; it is relative to the study file",
        "13: tasks.1.search_seconds must be at least 0, got '-1'; correct it",
    ]
    assert not any("there is no file" in one for one in found[3:])
    in_folder = SHORTEST.replace("good.xml", ".") + "    search_seconds: -1\n"
    assert faults(in_folder)[1].startswith("11: systems.good: runs/. is a folder; correct the path")


def test_all_faults_come_at_once_in_the_order_of_the_file(faults):
    """Each with its line and a cure."""
    text = (
        SHORTEST.replace("study: small", "study: Small Study")
        .replace("title: A small study\n", "titel: A small study\n")
        .replace("collection: {queries", "collection: {quereis")
        .replace("      bad: runs/bad.xml", "      bad one: runs/bad.xml")
        + "    search_seconds: -1\n    pairs: some\n    languge: en\n    validation_swapped: 1\nlease_minutes: 0\ndevice: fone\n"
    )
    names = "letters, digits, '.', '_' and -, at most 64 of them, a letter or digit first"
    short_names = "lower-case letters, digits and -, at most 40 of them, a letter or digit first"
    assert faults(text) == [
        f"1: study has a form that is not allowed, got 'Small Study'; write {short_names}",
        "1: title is missing; write title: ...",
        "2: titel is not known; did you mean 'title'?",
        "9: tasks.1.collection.queries is missing; write queries: ...",
        "9: tasks.1.collection.quereis is not known; did you mean 'queries'?",
        f"12: tasks.1.systems.bad one has a form that is not allowed, got 'bad one'; write {names}",
        "13: tasks.1.search_seconds must be at least 0, got '-1'; correct it",
        "14: pairs: there is no file some; write all, how many pairs a worker judges, or a file with `topic a b` on each line",
        "15: tasks.1.languge is not known; did you mean 'language'?",
        "16: tasks.1.validation_swapped must be true or false, got '1'; correct it",
        "17: lease_minutes must be at least 1, got '0'; correct it",
        "18: device must be 'any', 'phone' or 'desktop', got 'fone'; correct it",
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "kind: summary_pairs",
            "kind: sumary_pairs",
            "8: tasks.1: no such kind of task; did you mean 'summary_pairs'?",
        ),
        (
            "kind: summary_pairs",
            "name: pairs",
            f"8: tasks.1: no such kind of task; write kind: {' or kind: '.join(KINDS)}",
        ),
        (
            "      bad: runs/bad.xml\n",
            "",
            f"10: tasks.1.systems has too few entries, got a group of keys; {CURES['systems']}",
        ),
        ("title: A small study", "title: ''", "2: title is empty, got ''; correct it"),
        (
            "title: A small study",
            "title: 2026",
            "2: title must be text, got '2026'; put it in quotes if it is meant",
        ),
        ("title: A small study", "study: other", "2: duplicate key study; keep one of them"),
        (
            "  - kind: summary_pairs\n    collection:",
            "  one:\n    collection:",
            "7: tasks must be a list, got a group of keys; write a list of tasks, each beginning with - kind: ...",
        ),
        (
            "title: A small study",
            "title: [1",
            "3: not YAML: did not find expected ',' or ']'; check indentation, colons and quotes near here",
        ),
        (
            "title: A small study",
            "? [a]\n: 1",
            "2: not YAML: a key that is not a word; put it in quotes; check indentation, colons and quotes near here",
        ),
        (
            "title: A small study",
            "1: 1",
            "2: not YAML: a key that is not a word; put it in quotes; check indentation, colons and quotes near here",
        ),
        (
            "title: A small study",
            "title: &a [*a]",
            "1: nested too deeply, or referring to itself; see docs/study-file.md for the form",
        ),
    ],
)
def test_a_fault_says_what_is_wrong_and_how_to_mend_it(faults, old, new, fault):
    """One fault, one line."""
    assert faults(SHORTEST.replace(old, new))[0] == fault


def test_two_tasks_of_one_name_are_told_apart(faults):
    """The name stands in every table."""
    again = SHORTEST + SHORTEST.split("tasks:\n")[1]
    assert faults(again) == [
        "13: two tasks are named 'summary_pairs'; give each task a name of its own",
    ]


@pytest.mark.parametrize("text", ["", "- a\n", "just words\n", "5\n"])
def test_something_else_is_not_a_study_file(faults, text):
    """Said once, not as four missing keys."""
    assert faults(text) == ["1: not a study file; write keys such as study, title, consent and tasks"]


def test_a_file_that_is_not_there_or_not_text_is_a_plain_fault(tmp_path, read):
    """Not a traceback."""
    with pytest.raises(InputError, match="cannot be read"):
        read_study_file(tmp_path / "none.yaml", KINDS)
    with pytest.raises(InputError, match="not UTF-8"):
        read(b"title: \xff")


def test_a_small_file_cannot_be_endless(faults):
    """Aliases of aliases of aliases would take for ever to look through."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    assert faults("\n".join(lines)) == [
        "1: nested too deeply, or referring to itself; see docs/study-file.md for the form"
    ]
    nested = "\n".join(" " * depth + "a:" for depth in range(2_000))
    assert faults(nested)[0].startswith("1: nested too deeply")


PIECES = st.sampled_from(
    [
        *SHORTEST.splitlines(),
        "- ",
        "1: ",
        "null",
        "[]",
        "{}",
        "~: 3",
        '"',
        "&a",
        "*a",
        "? a",
        ".nan",
        "yes",
        "0x1F",
        "\t",
        "::",
        "<<: *a",
        "-",
        "'",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 40), PIECES), max_size=5))
@example([(0, 0, "")])
def test_any_damage_gives_a_study_or_faults(tmp_path_factory, damage):
    """Never anything but an `InputError`."""
    lines = SHORTEST.splitlines()
    for number, place, piece in damage:
        line = lines[number % len(lines)]
        lines[number % len(lines)] = line[:place] + piece + line[place:]
    path = tmp_path_factory.getbasetemp() / "damaged.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with suppress(InputError):
        read_study_file(path, KINDS)
