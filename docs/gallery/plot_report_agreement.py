"""
Does the measure agree with people?
===================================

Figures of the report about agreement. Each has a name, a title that says the finding, a caption, and a text for those who cannot see it.
"""

# %%
# Every measure with its interval, and below them the ceilings: a second panel of people, and a perfect measure.
from study_app.report.build import build_report
from study_app.report.folder import read_material

figures = {figure.name: figure for figure in build_report(read_material("prefcal-demo")).figures}
drawing = figures["agreement"].drawing()
drawing

# %%
# The finding, as the report says it.
print(figures["agreement"].title)

# %%
# The agreement along the patience, and where the patience was estimated.
drawing = figures["patience-curve"].drawing()
drawing

# %%
# Votes against score differences, pair by pair: on shaded ground the measure and the majority agree.
drawing = figures["agreement-pairs-1"].drawing()
drawing

# %%
drawing = figures["agreement-pairs-2"].drawing()
drawing

# %%
# What is left of the measure without one of its parts.
drawing = figures["parts-pairs-1"].drawing()
drawing

# %%
drawing = figures["parts-pairs-2"].drawing()
drawing

# %%
drawing = figures["parts-pairs-3"].drawing()
drawing
