"""
Who the workers were
====================

The care of workers, with the limits of the study's rule of exclusion.
"""

# %%
# How consistent they were, against how long they searched.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
drawing = figures["workers-search"].drawing()
drawing

# %%
# Consistency beyond what the same habits would give without looking.
drawing = figures["workers-consistency"].drawing()
drawing

# %%
# The side that each leans to.
drawing = figures["workers-sides"].drawing()
drawing
