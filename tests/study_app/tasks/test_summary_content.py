"""What tasks with queries need of their collection."""

import pytest

from metrics.errors import InputError
from study_app.estimate.content import read_whole_study
from tests.study_app.small_study import write_small_study
from tests.study_app.small_tasks import rating_task


def test_a_task_of_ratings_without_an_iunit_is_refused(tmp_path):
    """Workers would come to a task in which there is nothing to do."""
    path = write_small_study(tmp_path, tasks=[rating_task()])
    (tmp_path / "iunits.tsv").write_text("")

    with pytest.raises(InputError) as error:
        read_whole_study(path)

    (fault,) = error.value.faults
    assert fault.path == str(path)
    assert fault.line == next(
        number for number, line in enumerate(path.read_text().splitlines(), 1) if "collection" in line
    )
    assert fault.problem == "no query of task 'ratings' has an iUnit, so there is nothing to rate"
