"""The report: the folder of an agreement as one HTML page that a co-author can read, its figures and tables as files.

`folder` reads what is there. The parts (`agreement_part`, `curve_part`, `stream_part`, `fit_part`, `workers_part`,
`methods_part`, `provenance_part`) put it into sentences, tables and figures; `page` holds these as documented values. A
figure holds how it is drawn: `figures`, `stream_figures`, `worker_figures` and, for what fits draw themselves,
`plot_colours`. `canvas` makes drawings in a `look`, `style_file` reads one, `table_files` writes tables, `build` all of it.
"""
