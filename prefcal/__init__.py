"""The public interface of prefcal for notebooks and scripts: `import prefcal`.

Everything of docs/python.md, imported when it is first used. The functions that take a whole study stand in `studies`; all else
comes from `metrics` and `calibration`. May use every room but the command line.
"""

import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

__all__ = [
    "agree",
    "fit",
    "import_preferences",
    "judge_requests",
    "plan",
    "rank",
    "read_verdicts",
    "report",
    "simulate",
]

if TYPE_CHECKING:
    from calibration import *  # noqa: F403 - all that it hands out
    from calibration.plan import plan
    from metrics import *  # noqa: F403
    from prefcal.studies import (
        agree,
        fit,
        import_preferences,
        judge_requests,
        rank,
        read_verdicts,
        report,
        simulate,
    )


__version__ = version("prefcal")

RENAMED = {"Judges": "SimulatedJudges", "Study": "SimulatedStudy", "Wish": "PrecisionGoal"}
"""New names of public classes by their old ones, which work for one version more."""


def _check_not_hidden() -> None:
    """Raise `ImportError` if a user's file or folder hides a package of prefcal."""
    ours = Path(__file__).resolve().parents[1]
    for name in ("metrics", "calibration", "study_app"):
        spec = find_spec(name)
        found = Path(spec.origin).resolve() if spec is not None and spec.origin is not None else None
        if found is not None and found != ours / name / "__init__.py":
            hides = found.parent if found.name == "__init__.py" else found
            what = "folder" if found.name == "__init__.py" else "file"
            raise ImportError(
                f"{hides} hides the package {name} of prefcal: rename that {what}, then start Python again",
                name=name,
                path=str(hides),
            )


_check_not_hidden()
import calibration  # noqa: E402 - not before they are known to be ours
import metrics  # noqa: E402
from metrics.lazy_names import lazily  # noqa: E402

__all__ += calibration.__all__
__all__ += metrics.__all__
if not TYPE_CHECKING:
    _public, __dir__ = lazily(__name__, __all__, "metrics", "calibration", "calibration.plan", ".studies")

    def __getattr__(name):  # noqa: ANN001, ANN202 - read by Python alone
        if name in RENAMED:
            message = (
                f"prefcal.{name} is prefcal.{RENAMED[name]} now; the old name goes with the next version"
            )
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        return _public(RENAMED.get(name, name))
