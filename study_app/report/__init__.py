"""The report: the folder of an agreement as one HTML page that a co-author can read.

`folder` reads what is there, `agreement_part`, `fit_part`, `workers_part` and `provenance_part` put it into sentences,
tables and figures, `page` holds the documented values that the template shows, `figures` and `svg` draw.
"""
