"""examples/load_test: the study that load tests and scripts go through."""

import runpy
import shutil
from pathlib import Path

from study_app.estimate.content import read_whole_study

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "load_test"


def test_it_is_one_query_with_twenty_pairs_and_nothing_to_wait_for():
    """What a form-walking client needs: no choice page, no search, no end of places."""
    content = read_whole_study(EXAMPLE / "study.yaml")
    (task,) = content.tasks
    assert content.file.entry.platform == "generic"
    assert len(task.queries) == 1
    assert (task.entry.pairs, task.entry.validation_pairs, task.entry.search_seconds) == (20, 0, 0)
    assert task.entry.workers_per_query is None
    assert len(task.systems) == 7


def test_its_files_are_what_its_script_makes_of_the_bundled_study(tmp_path):
    """Nobody edits them by hand."""
    shutil.copytree(EXAMPLE.parent / "two_layered", tmp_path / "two_layered")
    shutil.copytree(EXAMPLE, tmp_path / "load_test", ignore=shutil.ignore_patterns("runs", "collection"))
    runpy.run_path(str(tmp_path / "load_test" / "build.py"), run_name="__main__")
    for path in sorted(EXAMPLE.glob("*/*.*")):
        assert (tmp_path / "load_test" / path.relative_to(EXAMPLE)).read_bytes() == path.read_bytes(), path
