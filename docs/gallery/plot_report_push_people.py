"""
Pushes scored by simulated people
=================================

MSU of push notifications, for the fitted people and for others.
"""

# %%
# MSU against expected latency-discounted gain.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-push")).figures}
drawing = figures["streams-pushes-elg-msu"].drawing()
drawing

# %%
drawing = figures["streams-pushes-lc-msu"].drawing()
drawing

# %%
# The people for whom MSU ranks most and least like it.
drawing = figures["streams-pushes-msu-closest"].drawing()
drawing

# %%
drawing = figures["streams-pushes-msu-farthest"].drawing()
drawing

# %%
drawing = figures["streams-pushes-msu-s-closest"].drawing()
drawing

# %%
# Which system is best for whom.
drawing = figures["streams-pushes-best"].drawing()
drawing
