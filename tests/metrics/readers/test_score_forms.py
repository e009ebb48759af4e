"""Every reader of scores gets what every tool prints, and reads it rightly or refuses it with a sentence that knows the form."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.agree.score_sources import read_scores
from calibration.interchange.trec_eval import read_long_scores, read_trec_eval
from metrics.errors import InputError
from metrics.readers.score_lines import looks_like_metric
from metrics.readers.score_rows import read_measure_table, read_score_rows, read_score_table

LONG = "run,topic,metric,value\n"
SCORES = {
    (run, topic, metric): value
    for run, of in {"a": ((0.5, 0.1), (0.25, 0.2)), "b": ((0.4, 0.3), (0.75, 0.6))}.items()
    for topic, values in zip(("1", "2"), of, strict=True)
    for metric, value in zip(("map", "ndcg_cut_10"), values, strict=True)
}
"""Two runs on two topics by two metrics."""
OVER_ALL = {
    (run, metric): sum(SCORES[run, topic, metric] for topic in "12") / 2
    for run in "ab"
    for metric in ("map", "ndcg_cut_10")
}


def lines(form, *, mean="", run=None, end="\n"):
    """Write every score, or those of a run, by a pattern, and the means under a name."""
    rows = [(*key, value) for key, value in SCORES.items()]
    rows += [(of, mean, metric, value) for (of, metric), value in OVER_ALL.items() if mean]
    return "".join(
        form.format(run=of, topic=topic, metric=metric, value=value) + end
        for of, topic, metric, value in rows
        if run in {None, of}
    )


def wide(header, *, mean="", index=False):
    """A row per run and topic."""
    rows = [
        (run, topic, *(SCORES[run, topic, metric] for metric in ("map", "ndcg_cut_10")))
        for run in "ab"
        for topic in "12"
    ]
    rows += [(run, mean, OVER_ALL[run, "map"], OVER_ALL[run, "ndcg_cut_10"]) for run in "ab" if mean]
    text = [",".join([*([""] if index else []), header, "map", "ndcg_cut_10"])]
    text += [",".join(map(str, [*([place] if index else []), *row])) for place, row in enumerate(rows)]
    return "\n".join([*text, ""])


OF_RUNS = {
    "prefcal": LONG + lines("{run},{topic},{metric},{value}", mean="all"),
    "prefcal, other order": "value,user,topic,run,metric\n" + lines("{value},u,{topic},{run},{metric}"),
    "pyterrier, per query": "name,qid,measure,value\n" + lines("{run},{topic},{metric},{value}"),
    "pandas with its index": ",run,topic,metric,value\n"
    + "".join(
        f"{place},{line}\n" for place, line in enumerate(lines("{run},{topic},{metric},{value}").splitlines())
    ),
    "ir_measures as a frame": "run_id,query_id,measure,value\n" + lines("{run},{topic},{metric},{value}"),
    "gdeval": wide("runid,topic", mean="amean"),
    "ndeval": wide("runid,topic", mean="amean"),
    "compatibility.py": wide("runid,topic", mean="average"),
    "pandas, means": wide("system,query", mean="mean", index=True),
    "a system without a known name": wide("Approach,topic")
    .replace("\na,", "\nours,")
    .replace("\nb,", "\ntheirs,"),
    "capitals": wide("System,Topic", mean="All"),
    "autojudge, tot": lines("{run} {metric} {topic} {value}", mean="all"),
    "autojudge, ir_measures": lines("{run}\t{topic}\t{metric}\t{value}", mean="all"),
    "sep= of Excel": "sep=,\n" + LONG + lines("{run},{topic},{metric},{value}"),
    "Windows": (LONG + lines("{run},{topic},{metric},{value}")).replace("\n", "\r\n"),
}
OF_ONE_RUN = {
    "trec_eval": "runid                 \tall\ta\n"
    + lines("{metric:<22}\t{topic}\t{value}", mean="all", run="a"),
    "trec_eval -m all_trec": "num_q                 \tall\t2\n"
    + lines("{metric:<22}\t{topic}\t{value}", run="a")
    + "relstring             \t1\t'21'\nrelstring_10          \t1\t'2 1'\n",
    "blanks": lines("{metric} {topic} {value}", run="a"),
    "ir_measures -q": lines("{topic}\t{metric}\t{value}", mean="all", run="a"),
    "ir_measures -q -n": lines("{topic}\t{metric}\t{value}", run="a"),
    "pyserini": "Running command: ['java', '-jar', 'jtreceval.jar']\nWARNING: no module\nResults:\n"
    + lines("{metric:<22}\t{topic}\t{value}", mean="all", run="a"),
    "pyserini without its second line": "Running command: ['java', '-jar', 'jtreceval.jar']\n"
    + lines("{metric:<22}\t{topic}\t{value}", run="a"),
}
OF_ONE_RUN_IN_COLUMNS = {
    "ir_measures as a frame": "query_id,measure,value\n" + lines("{topic},{metric},{value}", run="a"),
    "a column per measure": "qid,map,ndcg_cut_10\n"
    + "".join(f"{topic},{SCORES['a', topic, 'map']},{SCORES['a', topic, 'ndcg_cut_10']}\n" for topic in "12"),
}
ONLY_MEANS = {
    "ir_measures": "map\t0.375\nndcg_cut_10\t0.15\n",
    "trec_eval": "map                   \tall\t0.375\nndcg_cut_10           \tall\t0.15\n",
}
NO_SCORES = {
    "a run": ("q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2 8.5 tag\n", "there is no"),
    "a run whose tag is a number": (
        "q1 Q0 d1 1 9.5 7\nq1 Q0 d2 2 8.5 7\n",
        "each line has 6 fields, as a run of ranked lists has",
    ),
    "judgments": ("q1 0 d1 1\nq1 0 d2 0\n", "each line has 4 fields, as a file of judgments has"),
    "JSON of pytrec_eval": ('{"q1": {"map": 0.5}}\n', "this is JSON"),
    "JSON of ir_measures": ('{"query_id": "1", "measure": "AP", "value": 0.5}\n', "this is JSON"),
    "JSON on several lines": ('{\n  "q1": {"map": 0.5}\n}\n', "this is JSON"),
    "semicolons": ("run;topic;metric;value\na;1;map;0,5\n", "separated by semicolons, and not by commas"),
    "tabs with a header": (
        "run\ttopic\tmetric\tvalue\na\t1\tmap\t0.5\nb\t1\tmap\t0.5\n",
        "separated by tabs, and not by commas",
    ),
    "blanks with a header": (
        "run topic metric value\na 1 map 0.5\nb 1 map 0.5\n",
        "a header (run, topic, metric, value) and fields",
    ),
    "no header": ("a,1,map,0.5\na,2,map,0.25\n", "there is no header"),
    "metrics nobody knows": ("foo\tq1\t0.5\nfoo\tq2\t0.4\n", "of which none is a metric by its values"),
    "metrics nobody knows, with runs": (
        "r foo q1 0.5\nr foo q2 0.4\n",
        "--columns run,metric,topic,value or",
    ),
    "nothing": ("", "the file is empty"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\xff", ""),
}


@pytest.fixture
def file(tmp_path):
    """Write a file whose name says the run."""

    def written(content, name="a.eval"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def of_frame(frame):
    """Scores on topics, and means."""
    rows = list(frame[["run", "topic", "metric", "value"]].itertuples(index=False, name=None))
    by_topic = {(run, topic, metric): value for run, topic, metric, value in rows if topic != "all"}
    return by_topic, {(run, metric): value for run, topic, metric, value in rows if topic == "all"}


def agree_reads(path):
    return of_frame(read_scores(path))


def convert_reads(path):
    return of_frame(read_long_scores(path))


def sweep_reads(path):
    return of_frame(pd.DataFrame(read_score_rows(path)))


def trec_to_scores_reads(path):
    return of_frame(read_trec_eval(path)[0])


MANY = (agree_reads, convert_reads, sweep_reads)
EVERY = (*MANY, trec_to_scores_reads)


def known_names(scores):
    """Call runs as they are called above."""
    names = {"ours": "a", "theirs": "b"}
    return {(names.get(run, run), *rest): value for (run, *rest), value in scores.items()}


@pytest.mark.parametrize("reader", EVERY)
@pytest.mark.parametrize("tool", OF_RUNS)
def test_tables_of_several_runs_are_read_by_every_reader(file, reader, tool):
    """Whatever the columns are called, and in whatever order they stand; a mean is never a topic."""
    by_topic, means = reader(file(OF_RUNS[tool]))
    assert known_names(by_topic) == SCORES
    assert known_names(means) in ({}, pytest.approx(OVER_ALL))
    has_mean = any(name in OF_RUNS[tool].lower() for name in ("all", "amean", "average", "mean"))
    assert bool(means) == (has_mean and reader is not agree_reads)


@pytest.mark.parametrize("tool", OF_RUNS)
def test_tables_of_several_runs_are_correlated_by_topics_alone(file, tool):
    """A mean that were a topic would move the interval."""
    found, notes = read_measure_table(file(OF_RUNS[tool]), [])
    assert notes == ()
    assert {name: values.shape for name, values in found.items()} == {"map": (2, 2), "ndcg_cut_10": (2, 2)}
    wanted = [[SCORES[run, topic, "map"] for topic in "12"] for run in "ab"]
    assert np.array_equal(found["map"], wanted)


@pytest.mark.parametrize("tool", OF_ONE_RUN)
def test_what_is_printed_for_one_run_is_converted(file, tool):
    """Topics are topics, and metrics metrics; texts are left out with a note."""
    path = file(OF_ONE_RUN[tool])
    by_topic, _ = trec_to_scores_reads(path)
    assert by_topic == {key: value for key, value in SCORES.items() if key[0] == "a"}
    notes = read_trec_eval(path)[1]
    wanted = [
        f"{name} is left out: its values are texts, and no scores" for name in ("relstring", "relstring_10")
    ]
    assert list(notes) == (wanted if "all_trec" in tool else [])


@pytest.mark.parametrize("tool", OF_ONE_RUN_IN_COLUMNS)
def test_a_table_of_one_run_is_converted_and_refused_where_runs_are_compared(file, tool):
    """It lacks the column that says of which it is."""
    path = file(OF_ONE_RUN_IN_COLUMNS[tool])
    assert trec_to_scores_reads(path)[0] == {key: value for key, value in SCORES.items() if key[0] == "a"}
    for reader in MANY:
        with pytest.raises(InputError, match="there is no column 'run'"):
            reader(path)


@pytest.mark.parametrize("tool", ONLY_MEANS)
def test_means_alone_are_converted_too(file, tool):
    """As a tool prints them that is not asked for topics."""
    by_topic, means = trec_to_scores_reads(file(ONLY_MEANS[tool]))
    assert by_topic == {}
    assert means == {key: pytest.approx(value) for key, value in OVER_ALL.items() if key[0] == "a"}


@pytest.mark.parametrize("reader", [*MANY, lambda path: read_measure_table(path, [])])
@pytest.mark.parametrize("text", [*OF_ONE_RUN.values(), *ONLY_MEANS.values()])
def test_what_is_printed_for_one_run_is_refused_where_runs_are_compared(file, reader, text):
    """With whose it is, and the command that turns it into a table."""
    with pytest.raises(InputError) as caught:
        reader(file(text))
    (fault,) = caught.value.faults
    assert fault.problem.startswith("this is what ")
    assert fault.problem.endswith(", and no CSV with a header")
    assert "prefcal convert trec-to-scores RUN.eval ... -o scores.csv" in fault.cure


@pytest.mark.parametrize("reader", [*EVERY, lambda path: read_measure_table(path, [])])
@pytest.mark.parametrize("tool", NO_SCORES)
def test_what_is_no_file_of_scores_is_refused_by_every_reader(file, reader, tool):
    """In one line that knows what it is."""
    content, problem = NO_SCORES[tool]
    with pytest.raises(InputError) as caught:
        reader(file(content, "a.eval"))
    (fault,) = caught.value.faults
    assert problem in str(fault)
    assert fault.cure


def test_what_the_values_do_not_tell_can_be_said(file):
    """The refusal has the words for it."""
    path = file(NO_SCORES["metrics nobody knows"][0])
    with pytest.raises(InputError) as caught:
        read_trec_eval(path)
    (fault,) = caught.value.faults
    assert fault.cure == (
        "say which: prefcal convert trec-to-scores --columns metric,topic,value or "
        "prefcal convert trec-to-scores --columns topic,metric,value"
    )
    for columns, wanted in (("metric topic value", ("q1", "foo")), ("topic metric value", ("foo", "q1"))):
        frame, _ = read_trec_eval(path, columns=columns.split())
        assert tuple(frame.loc[0, ["topic", "metric"]]) == wanted


def test_topics_that_are_called_like_metrics_are_told_by_the_means(file):
    """P1 to P3 may be topics; a metric is never called all."""
    swapped = file("P@1\tmap\t0.5\nP@2\tmap\t0.4\nall\tmap\t0.45\n")
    assert set(read_trec_eval(swapped)[0]["topic"]) == {"P@1", "P@2", "all"}


def test_one_system_twice_is_refused_in_a_wide_table_too(file):
    """Tables pasted together would count it twice."""
    path = file("run,a,b\ns1,1,2\ns2,2,1\ns1,3,3\n")
    for reader in (read_score_rows, lambda one: read_measure_table(one, [])):
        with pytest.raises(InputError) as caught:
            reader(path)
        assert (
            str(caught.value)
            == f"{path}:4: the same run, topic and metric as line 2; keep one of the two rows"
        )


def test_a_long_table_whose_columns_have_names_of_their_own_is_one_fault_that_says_how_to_call_them(file):
    """Not one fault a row, about runs that stand twice."""
    path = file("foo,bar,baz,qux\na,q1,m,1\na,q2,m,2\nb,q1,m,3\nb,q2,m,4\n")
    with pytest.raises(InputError) as caught:
        read_score_rows(path)
    assert str(caught.value) == (
        f"{path}:1: 2 rows of a run that has another row already, and no column is called topic; bar, baz are left out: texts, and no scores;"
        " call the columns run, topic, metric, value, or keep one row per run"
    )


def test_a_column_of_texts_is_no_measure_and_is_said(file):
    """The first one names the systems."""
    path = file("Approach,Team,nDCG,Pref\ns1,x,0.1,1\ns2,y,0.2,2\n")
    found, notes = read_measure_table(path, [])
    assert list(found) == ["nDCG", "Pref"]
    assert notes == ("Team is left out: texts, and no scores",)
    assert [score.run for score in read_score_rows(path)] == ["s1", "s2"] * 2


def test_columns_that_are_named_are_measures_whatever_they_hold(file):
    """So a cell that is no number is a fault and not left out."""
    with pytest.raises(InputError, match=r":2: Team is no finite number: 'x'"):
        read_measure_table(file("run,Team,nDCG\ns1,x,0.1\ns2,y,0.2\n"), ["Team", "nDCG"])


def test_large_tables_are_read_batch_by_batch(file, monkeypatch):
    """Lines are counted through batches, quoted cells with line breaks and blank lines."""
    monkeypatch.setattr("metrics.readers.columns.BATCH", 2)
    monkeypatch.setattr("metrics.readers.columns.PEEKED_ROWS", 1)
    text = 'run,topic,metric,value\n"a\nx",1,map,0.5\n\na,2,map,0.25\na,3,map,1e-1\nb,1,map,much\nb,2,map,1\n'
    with pytest.raises(InputError) as caught:
        read_score_table(file(text))
    assert [fault.line for fault in caught.value.faults] == [7]
    table = read_score_table(file(text.replace("much", "2")))
    assert table.line.tolist() == [2, 5, 6, 7, 8]
    assert table.value.tolist() == [0.5, 0.25, 0.1, 2, 1]
    assert table.runs == ("a\nx", "a", "b")


@pytest.mark.parametrize(
    "name",
    [
        "map",
        "ndcg_cut_10",
        "P_5",
        "P@5",
        "recip_rank",
        "RBP(p=0.8)",
        "nDCG(dcg='exp-log2')@10",
        "AP",
        "RR@10",
        "alpha-nDCG@20",
        "M@1500",
        "TIA-nDCG@10",
        "ELG-1",
        "11pt_avg",
        "iprec_at_recall_0.00",
        "num_rel_ret",
        "set_F",
        "nugget_coverage",
        "err@20",
    ],
)
def test_names_of_metrics_are_known(name):
    assert looks_like_metric(name)


@pytest.mark.parametrize(
    "name", ["1", "301", "q1", "TS14.11", "MB226", "31_1", "all", "t1", "bm25", "r1", "2011-05", "MC2-E-0001"]
)
def test_names_of_topics_and_runs_are_no_metrics(name):
    assert not looks_like_metric(name)


def test_what_ir_measures_prints_today_is_read(file, tmp_path):
    """By the command itself."""
    pytest.importorskip("ir_measures", reason="prefcal[measures] is not installed")
    (tmp_path / "qrels").write_text("1 0 d1 1\n2 0 d1 1\n2 0 d2 0\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 2 t\n2 Q0 d2 1 2 t\n2 Q0 d1 2 1 t\n")
    command = [sys.executable, "-m", "ir_measures", tmp_path / "qrels", tmp_path / "run", "AP", "nDCG@10"]
    for options, topics in (["-q"], {"1", "2", "all"}), ([], {"all"}):
        printed = subprocess.run([*command, *options], capture_output=True, check=True).stdout
        frame, _ = read_trec_eval(file(printed))
        assert set(frame["topic"]) == topics
        assert set(frame["metric"]) == {"AP", "nDCG@10"}
        assert frame.set_index(["topic", "metric"]).loc[("all", "AP"), "value"] == 0.75


@given(st.binary(max_size=300) | st.text("runtopcmeva,.;\t\n '{[0123456789", max_size=300).map(str.encode))
def test_any_bytes_are_scores_or_one_clean_error(tmp_path_factory, content):
    """Nothing else is ever raised."""
    path = tmp_path_factory.mktemp("scores") / "a.csv"
    path.write_bytes(content)
    for reader in (read_score_rows, read_scores, read_trec_eval, lambda one: read_measure_table(one, [])):
        try:
            reader(path)
        except InputError:
            continue
