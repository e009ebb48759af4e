"""Agreement of measures with the preferences of a study.

In come tables, a user model, collections and runs (`evidence`); out go the tables that `study.agree` makes (their values are
in `result`) and `folder.write_agreement` writes. `measures` scores the systems, `task_agreement` and `comparisons` hold the
scores against the preferences of a `judged_task`; `stream_scores` is what is said of streams apart from preferences. `folder`
and `result` are all that a reader of a written agreement loads. It may use every room of `calibration` but `fit`, `plan` and
`simulate`.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "AgreementTables",
    "ScoreSources",
    "agree",
    "read_scores",
    "write_agreement",
]

if TYPE_CHECKING:
    from calibration.agree.agree_tables import agree
    from calibration.agree.folder import write_agreement
    from calibration.agree.result import AgreementTables
    from calibration.agree.score_sources import ScoreSources, read_scores
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".score_sources", ".result", ".agree_tables", ".folder")
