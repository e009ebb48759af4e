"""
Fits in the report
==================

The report draws the fits again from what ``prefcal fit`` kept, without the data of any person.
"""

# %%
# Where people stop reading.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
drawing = figures["fit-patience-chars-stops-survival"].drawing()
drawing

# %%
# What the preferences say about the patience.
drawing = figures["fit-patience-chars-preferences-profile"].drawing()
drawing

# %%
# How often people came back.
drawing = figures["fit-away-totals"].drawing()
drawing

# %%
drawing = figures["fit-away-qq"].drawing()
drawing

# %%
# How fast they read.
drawing = figures["fit-reading-speed-qq"].drawing()
drawing

# %%
drawing = figures["fit-reading-speed-residuals"].drawing()
drawing

# %%
# What lateness costs.
drawing = figures["fit-lateness-proportions"].drawing()
drawing

# %%
# Which intents they have.
drawing = figures["fit-intents-shrinkage"].drawing()
drawing
