"""Public classes that have a new name are found under the old one for one version, with a warning that names the new one."""

import pytest

import prefcal


@pytest.mark.parametrize(("old", "new"), list(prefcal.RENAMED.items()))
def test_an_old_name_works_and_names_the_new_one(old, new):
    with pytest.warns(DeprecationWarning, match=f"prefcal.{old} is prefcal.{new} now"):
        found = getattr(prefcal, old)

    assert found is getattr(prefcal, new)
    assert old not in prefcal.__all__
