"""Report: results of `prefcal agree` and `prefcal fit` as one HTML page.

In comes a folder (`folder.read_material`); out go report.html, figures as SVG and PDF, tables as CSV, some as LaTeX
(`build.write_report`). `parts` put the files into sentences, figures and tables, `page` holds these as documented values,
`drawing` draws in a `look`. It shows and does not compute: numbers come from files, or from `calibration`. It may use
`study_app`, `study_app.tasks` for the words of the methods, `calibration` and `metrics`.
"""
