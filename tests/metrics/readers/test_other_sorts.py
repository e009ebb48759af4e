"""What other tools and tracks write with as many columns: read rightly, or refused, by every reader of such lines."""

import pytest

from calibration.interchange.plain_files import read_preference_lines
from metrics.errors import InputError
from metrics.readers.push import read_push_collection, read_push_run
from metrics.readers.ranked import read_ranked_collection, read_ranked_run, read_windows
from metrics.readers.tempsum import read_lengths, read_update_run
from study_app.study_new.recognise import RecognisedFile, recognise
from tests.metrics.ranked_files import QRELS, write_ranked

SAMPLES = {
    2: {
        "windows": "d1 1990\nd2 1991\n",
        "topics": "q1\twhy\nq2\twhere\n",
    },
    3: {
        "intents": "1 a 0.75\n1 b 0.25\n",
        "epochs": "624 20150720 1437351600\n625 20150721 1437451600\n",
        "run of MS MARCO": "1 d1 1\n1 d2 2\n",
        "one line of such a run": "1 d1 1\n",
        "trec_eval -q": "ndcg 1 0.5\nndcg 2 0.5\nmap 1 1\n",
        "ir_measures -q": "1 nDCG@10 0.5\n1 AP@10 0.5\n",
        "pairs": "1 x y\n1 y z\n",
        "lengths": "TS14.1\tu1\t12\nTS14.1\tu2\t9\n",
    },
    4: {
        "qrels": "1 0 d1 1\n1 0 d2 0\n",
        "qrels by subtopic": "1 a d1 1\n1 b d1 0\n",
        "push qrels": "MB1 Q0 624 1\nMB1 Q0 625 0\n",
        "push run": "MB1 624 1437351600 tag\nMB1 625 1437351700 tag\n",
        "winners": "23287 821 810 821\n23287 823 824 824\n",
        "winners by name": "q d1 d2 d2\nq d3 d1 d3\n",
        "choices": "q x y a\nq x y b\n",
        "choices as numbers": "q x y 1\nq y z 2\n",
        "winner, loser, worker": "q x y w1\nq z x w2\n",
        "importances": "q1 i1 u1 3\nq1 i1 u2 0.5\n",
        "TREC-8 run cut to four": "1 d1 1 9.5\n1 d2 2 9.1\n",
    },
    5: {
        "preferences": "q x y w a\nq y x w =\n",
        "preferences with the winner": "q x y w x\nq y x w x\n",
        "qrels with a note": "1 0 d1 1 x\n1 0 d2 0 x\n",
    },
    6: {
        "run": "1 Q0 d1 1 9.5 tag\n1 Q0 d2 2 9.1 tag\n",
        "matches": "TS14.1\tu1\tn1\t0\t12\t0\nTS14.1\tu2\tn1\t0\t3\t0\n",
        "nuggets": "TS14.1\tn1\t1326600584\t1\t3\tone\nTS14.1\tn2\t1326600590\t2\t4\ttwo\n",
    },
    7: {
        "update run": "1 team run doc-1 2 1326600584 0.5\n1 team run doc-1 3 1326600590 0.5\n",
        "updates": "TS14.1\tu1\td1\t0\t3\tNULL\tone\nTS14.1\tu2\td2\t0\t3\tNULL\ttwo\n",
    },
}
"""Number of fields on a line -> what such files are -> lines of one."""


def intents(path):
    """Read P(c|q) beside judgments of topics 1 and 2."""
    write_ranked(path.parent, qrels=QRELS)
    return read_ranked_collection(qrels=path.parent / "qrels.txt", intents=path)


def test_intents_of_topics_that_nobody_judged_take_no_part(tmp_path):
    """As what trec_eval prints has it, whose first column are measures: it is warned of, see `ranked_judgments_left_out`."""
    (tmp_path / "given").write_text(SAMPLES[3]["trec_eval -q"])
    found = intents(tmp_path / "given")
    assert (found.probability, found.strange_intents) == ({}, ("ndcg", "map"))


def epochs(path):
    """Read times beside judgments of one tweet."""
    (path.parent / "qrels").write_text("MB1 Q0 624 1\n")
    (path.parent / "clusters").write_text('{"topics": {}}')
    return read_push_collection(
        qrels=path.parent / "qrels", clusters=path.parent / "clusters", epochs=path, days="20150720:20150721"
    )


def push_qrels(path):
    """Read judgments of tweets."""
    (path.parent / "epochs").write_text("624 20150720 1437351600\n")
    (path.parent / "clusters").write_text('{"topics": {}}')
    return read_push_collection(
        qrels=path, clusters=path.parent / "clusters", epochs=path.parent / "epochs", days="20150720:20150721"
    )


READERS = {
    (2, "windows"): (read_windows, {"topics"}),
    (3, "intents"): (intents, {"trec_eval -q"}),
    (3, "epochs"): (epochs, set()),
    (3, "lengths"): (lambda path: read_lengths(path, ["TS14.1"]), set()),
    (4, "qrels"): (
        lambda path: read_ranked_collection(qrels=path),
        {
            "qrels by subtopic",
            "push qrels",
            "importances",
            "choices as numbers",
            "TREC-8 run cut to four",
        },
    ),
    (4, "push qrels"): (push_qrels, {"qrels"}),
    (4, "push run"): (read_push_run, set()),
    (4, "winner, loser, worker"): (read_preference_lines, set()),
    (5, "preferences"): (read_preference_lines, set()),
    (6, "run"): (lambda path: read_ranked_run(path, ["1", "TS14.1"]), set()),
    (7, "update run"): (read_update_run, set()),
}
"""Columns and the sort that a reader is for -> the reader, and what else has its form, so that no value tells."""
CASES = [(size, own, other) for (size, own) in READERS for other in SAMPLES[size] if other != own]


@pytest.mark.parametrize(("size", "own"), READERS)
def test_each_reader_reads_its_own_sort(tmp_path, size, own):
    """Or the refusals below would say nothing."""
    path = tmp_path / "given"
    path.write_text(SAMPLES[size][own])
    READERS[size, own][0](path)


@pytest.mark.parametrize(("size", "own", "other"), CASES)
def test_a_file_of_another_sort_with_as_many_columns_is_refused(tmp_path, size, own, other):
    """By its values; what values cannot tell apart is listed, and has the meaning that its reader's format gives it."""
    read, alike = READERS[size, own]
    path = tmp_path / "given"
    path.write_text(SAMPLES[size][other])
    if other in alike:
        read(path)
        return
    with pytest.raises(InputError):
        read(path)


KNOWN = {
    "windows": "windows",
    "topics": "id word",
    "intents": "id id number",
    "epochs": "epochs",
    "pairs": "id word word",
    "qrels": "id id id number",
    "qrels by subtopic": "id id id number",
    "push qrels": "push qrels",
    "push run": "push run",
    "importances": "id id id number",
    "run": "ranked run",
    "matches": "matches",
    "nuggets": "nuggets",
    "update run": "event run",
    "updates": "updates",
}
NO_PART = ("winners", "winners by name", "preferences", "preferences with the winner", "choices")


@pytest.mark.parametrize("name", [*KNOWN, *NO_PART])
def test_a_new_study_takes_each_sort_for_what_it_is(tmp_path, name):
    """What judges systems is no part of a collection."""
    path = tmp_path / "given"
    path.write_text(next(of[name] for of in SAMPLES.values() if name in of))
    found = recognise(path)
    assert (found.form if isinstance(found, RecognisedFile) else None) == KNOWN.get(name)
