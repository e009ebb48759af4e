"""
Which system do people prefer?
==============================

The win rate of every system with its interval, and the ranks that are left open.
"""

# %%
# Drawn as the report draws it.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
drawing = figures["ranking"].drawing()
drawing
