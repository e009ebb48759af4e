"""What `prefcal correlate` prints."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

from metrics.agreement.correlation import kendall_tau_b, pearson, tau_ap, tau_ap_b
from study_app.cli import main

TABLE = "run,elg,msu\na,0.3,5.0\nb,0.2,7.0\nc,0.1,1.0\nd,0.4,1.0\n"
ELG, MSU = [0.3, 0.2, 0.1, 0.4], [5.0, 7.0, 1.0, 1.0]


@pytest.fixture
def correlate(monkeypatch, capsys):
    """Run the command; return exit code, stdout and stderr."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["prefcal", "correlate", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        out = capsys.readouterr()
        return exit_.value.code or 0, out.out, out.err

    return run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    return path


def values(text):
    return {row["metric"]: float(row["value"]) for row in csv.DictReader(io.StringIO(text))}


def test_csv_has_one_row_a_coefficient_with_thirteen_digits(correlate, table):
    """Scripts depend on header, order and digits."""
    code, out, err = correlate(table, "--x", "elg", "--y", "msu", "--format", "csv")

    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "run,topic,metric,value"
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["scores.csv", "all", metric] for metric in ("tau-b", "tau-AP", "tau-AP-sym", "pearson")
    ]
    assert values(out) == pytest.approx(
        {
            "tau-b": kendall_tau_b(ELG, MSU),
            "tau-AP": tau_ap(ELG, MSU),
            "tau-AP-sym": tau_ap_b(ELG, MSU),
            "pearson": pearson(ELG, MSU),
        },
        abs=1e-12,
    )


def test_with_ties_in_the_reference_tau_ap_is_nan_in_csv_and_null_in_json(correlate, table):
    """Undefined is said, not left out."""
    arguments = (table, "--x", "msu", "--y", "elg", "--format")

    assert "scores.csv,all,tau-AP,nan" in correlate(*arguments, "csv")[1]
    assert json.loads(correlate(*arguments, "json")[1])[1]["value"] is None


def test_published_scores_correlate_as_published(correlate, shared):
    """TREC 2013: tau(MSU, LC) = -0.108, tau(ELG, LC) = -0.28, tau(MSU, ELG) = 0.471 between its two columns."""
    scores = shared / "data" / "ts-2013" / "published-scores.csv"

    def tau(x, y):
        return values(correlate(scores, "--x", x, "--y", y, "--format", "csv")[1])["tau-b"]

    assert tau("lc", "msu_authors_python") == pytest.approx(-0.108, abs=5e-4)
    assert tau("lc", "elg") == pytest.approx(-0.278, abs=5e-4)
    assert {round(tau("elg", f"msu_authors_{way}"), 3) for way in ("python", "r")} == {0.476, 0.464}


def test_a_file_may_be_packed_and_is_written_whole(correlate, table, tmp_path):
    """gzip in, a file out, nothing on the terminal."""
    packed, result = tmp_path / "scores.csv.gz", tmp_path / "tau.csv"
    packed.write_bytes(gzip.compress(table.read_bytes()))

    code, out, _ = correlate(packed, "--x", "elg", "--y", "msu", "--format", "csv", "-o", result)

    assert (code, out) == (0, "")
    assert values(result.read_text())["tau-b"] == pytest.approx(kendall_tau_b(ELG, MSU))


@pytest.mark.parametrize(
    ("text", "x", "lines"),
    [
        (TABLE, "elgg", ["{}:1: there is no column 'elgg'; did you mean 'elg'?"]),
        (TABLE, "run", [f"{{}}:{line}: run is no finite number" for line in range(2, 6)]),
        ("run,elg,msu\na,1,2\nb,,3\nc,nan,4\n", "elg", ["{}:3: elg is no", "{}:4: elg is no"]),
        ("run,elg,msu\na,1,2\nb,1\n", "elg", ["{}:3: 3 fields expected, got 2"]),
        ("run,elg,elg,msu\na,1,2,3\n", "elg", ["{}:1: column 'elg' stands 2 times"]),
        ("run,elg,msu\na,1,2\n", "elg", ["{}:1: fewer than two rows"]),
        ("", "elg", ["{}:1: the file is empty"]),
        ("run,elg,msu\r\n\xff".encode("latin-1"), "elg", ["{}:2: not UTF-8"]),
        (None, "elg", ["{}:1: there is no such file"]),
    ],
)
def test_every_fault_is_one_line_with_place_and_cure(correlate, tmp_path, text, x, lines):
    """Exit 1, nothing on stdout, no traceback."""
    path = tmp_path / "scores.csv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    code, out, err = correlate(path, "--x", x, "--y", "msu")

    assert (code, out) == (1, "")
    found = err.splitlines()
    assert len(found) == len(lines)
    for line, start in zip(found, lines, strict=True):
        assert line.startswith(start.format(path))
        assert "; " in line


def test_where_no_column_names_the_systems_each_row_is_one(correlate, tmp_path):
    """A column topic then says nothing but which row is a mean, and is no score either."""
    path = tmp_path / "scores.csv"
    rows = [f"{topic},{elg},{msu}" for topic, elg, msu in zip("ABCD", ELG, MSU, strict=True)]
    path.write_text("\n".join(["topic,elg,msu", *rows, "mean,9,-9", ""]))

    code, out, _ = correlate(path, "--x", "elg", "--y", "msu", "--format", "csv")

    assert (code, values(out)["tau-b"]) == (0, pytest.approx(kendall_tau_b(ELG, MSU)))


def test_a_column_that_is_not_named_is_wrong_usage(correlate, table):
    """Exit 2 is for the command line itself."""
    assert correlate(table, "--y", "elg")[0] == 2


def test_wide_and_long_tables_of_topics_give_the_same_intervals_and_every_two_measures(correlate, tmp_path):
    """Topics are drawn anew; rows of topic `all` are means and left out."""
    rng = np.random.default_rng(1)
    rows = [(run, topic, *rng.normal(run, 1, 3)) for run in range(6) for topic in range(8)]
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text("run,topic,a,b,c\n" + "".join(f"s{r},q{t},{a},{b},{c}\n" for r, t, a, b, c in rows))
    long.write_text(
        "run,topic,metric,value\n"
        + "".join(f"s{r},q{t},{m},{v}\n" for r, t, *of in rows for m, v in zip("abc", of, strict=True))
        + "".join(f"s{run},all,{m},{run}\n" for run in range(6) for m in "abc")
    )
    found = [
        list(csv.DictReader(io.StringIO(correlate(path, "--format", "csv")[1]))) for path in (wide, long)
    ]

    assert found[0] == found[1]
    assert [(row["x"], row["y"]) for row in found[0][::4]] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in found[0][::4])
    alone = correlate(wide, "--x", "b", "--y", "c", "--format", "csv")[1]
    alone = {row["metric"]: float(row["value"]) for row in csv.DictReader(io.StringIO(alone))}
    assert alone == {row["metric"]: float(row["value"]) for row in found[0][8:]}


def test_without_topics_the_interval_is_fishers_over_systems(correlate, tmp_path):
    """tanh(atanh(r) +- 1.96 / sqrt(n - 3)), as in any textbook; AP correlations have none."""
    path = tmp_path / "scores.csv"
    path.write_text("a,b\n" + "".join(f"{n},{(n * 7) % 12}\n" for n in range(12)))
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(correlate(path, "--format", "csv")[1]))}

    r = float(rows["pearson"]["value"])
    assert float(rows["pearson"]["high"]) == pytest.approx(np.tanh(np.arctanh(r) + 1.959964 / 3), abs=1e-6)
    assert rows["tau-AP"]["low"] == "nan"


def test_millions_of_systems_are_refused_before_any_memory_is_asked(correlate, tmp_path):
    """Every two systems are compared."""
    path = tmp_path / "scores.csv"
    path.write_text("a,b\n" + "".join(f"{n},{n % 7}\n" for n in range(11000)))

    assert correlate(path, "--x", "a", "--y", "b")[::2] == (
        1,
        f"{path}:1: 11,000 systems, and every two are compared; give at most 10,000\n",
    )


def test_one_system_twice_is_refused(correlate, tmp_path):
    """Leaderboards pasted together would count it twice, in silence."""
    path = tmp_path / "scores.csv"
    path.write_text(f"{TABLE}b,0.9,0.1\n")
    line = f"{path}:6: the same run, topic and metric as line 3; keep one of the two rows\n"
    assert correlate(path) == (1, "", line)


def test_the_first_column_of_texts_names_the_systems_and_another_is_left_out_with_a_note(correlate, tmp_path):
    """Whatever it is called."""
    path = tmp_path / "board.csv"
    path.write_text("System,Team,nDCG,Pref\ns1,x,0.1,1\ns2,y,0.2,2\ns3,z,0.3,3\n")
    code, out, err = correlate(path, "--format", "csv")
    assert code == 0
    assert {(row["x"], row["y"]) for row in csv.DictReader(io.StringIO(out))} == {("nDCG", "Pref")}
    assert err.startswith(f"{path}: Team is left out: texts, and no scores\n")


@pytest.mark.parametrize("mean", ["amean", "average", "Mean"])
def test_a_mean_is_no_topic(correlate, tmp_path, mean):
    """It would move the interval."""
    rng = np.random.default_rng(1)
    rows = [
        f"s{run},q{topic},{a},{b}\n"
        for run in range(5)
        for topic in range(6)
        for a, b in [rng.normal(run, 2, 2)]
    ]
    means = "".join(f"s{run},{mean},{run},{-run}\n" for run in range(5))
    without, with_means = tmp_path / "without.csv", tmp_path / "with.csv"
    without.write_text("runid,topic,a,b\n" + "".join(rows))
    with_means.write_text("runid,topic,a,b\n" + "".join(rows) + means)
    assert correlate(without, "--format", "json") == correlate(with_means, "--format", "json")
