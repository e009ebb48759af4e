"""How well measures agree with the preferences of a study."""

from typing import TYPE_CHECKING

from metrics.exports import lazily

__all__ = [
    "AgreementTables",
    "Evidence",
    "agree",
    "read_scores",
    "write_agreement",
]

if TYPE_CHECKING:
    from calibration.agree.evidence import Evidence
    from calibration.agree.folder import write_agreement
    from calibration.agree.score_files import read_scores
    from calibration.agree.study import AgreementTables, agree
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".evidence", ".score_files", ".study", ".folder")
