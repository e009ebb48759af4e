"""
Pushing or silence: measures and people
=======================================

Figures of the report on a study of push notifications.
"""

# %%
# How well measures agree with the preferences between streams of notifications.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-push")).figures}
drawing = figures["agreement"].drawing()
drawing

# %%
# The agreement of T11U along alpha, the weight of gain against pain.
drawing = figures["alpha-curve"].drawing()
drawing

# %%
# The agreement of MSU along the lateness decay.
drawing = figures["lateness-curve"].drawing()
drawing

# %%
# What pushes and silence are worth.
drawing = figures["fit-push-weights"].drawing()
drawing

# %%
# How alike ELG and T11U rank systems, along alpha.
drawing = figures["streams-pushes-alpha"].drawing()
drawing

# %%
# A measure that rewards silence against one that does not.
drawing = figures["streams-pushes-elg-1-elg-0"].drawing()
drawing

# %%
drawing = figures["streams-pushes-ncg-1-ncg-0"].drawing()
drawing

# %%
# ELG against the other measures of the track.
drawing = figures["streams-pushes-elg-1-ncg-1"].drawing()
drawing

# %%
drawing = figures["streams-pushes-elg-1-t11u"].drawing()
drawing

# %%
drawing = figures["streams-pushes-silence-recall-elg-1"].drawing()
drawing
