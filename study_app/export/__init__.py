"""From the database to tables: what `prefcal export` writes.

`workers` and `answers` read what people did, `readings` what their pages logged, `raw` everything as it was stored;
`folder` writes; `study_export` puts them together.
"""

from study_app.export.study_export import ExportSummary, export_study

__all__ = ["ExportSummary", "export_study"]
