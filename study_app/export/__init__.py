"""Tables that `prefcal export` writes from the database.

`people` and `answers` read what workers did, `event_log`, `readings` and `stream_logs` what their pages
logged, `log_gaps` what is missing from these logs, `raw` everything as it was stored (columns in `raw_tables`); `folder` writes;
`study_export` puts them together. It uses `study_app.store` and the pure packages before it.
"""

from study_app.export.study_export import ExportSummary, check_not_real, export_study

__all__ = ["ExportSummary", "check_not_real", "export_study"]
