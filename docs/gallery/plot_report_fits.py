"""
Fits in the report
==================

The report draws the fits again from what ``prefcal fit`` kept, without the data of any person.
"""

# %%
# Where people stop reading.
from study_app.report.build import build_report
from study_app.report.drawing.look import ReportLook
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
look = ReportLook()
drawing = figures["fit-patience-chars-stops-survival"].draw(look)
drawing

# %%
# What the preferences say about the patience.
drawing = figures["fit-patience-chars-preferences-profile"].draw(look)
drawing

# %%
# How often people came back.
drawing = figures["fit-away-totals"].draw(look)
drawing

# %%
drawing = figures["fit-away-qq"].draw(look)
drawing

# %%
# How fast they read.
drawing = figures["fit-reading-speed-qq"].draw(look)
drawing

# %%
drawing = figures["fit-reading-speed-residuals"].draw(look)
drawing

# %%
# What lateness costs.
drawing = figures["fit-lateness-proportions"].draw(look)
drawing

# %%
# Which intents they have.
drawing = figures["fit-intents-shrinkage"].draw(look)
drawing
