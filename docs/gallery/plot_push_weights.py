"""
What pushes and silence are worth
=================================

Four weights of the contingency table, from preferences between streams of notifications.
"""

# %%
# Each weight against that of a first relevant push, with its interval.
from matplotlib.figure import Figure

import prefcal

tables = prefcal.read_tables("prefcal-push/tables")
judged = {name: tables[name] for name in ("preferences", "push_cells", "workers")}
weights = prefcal.fit(judged, options=prefcal.FitOptions(checks=False)).results["push_P_E"]
drawing = Figure(figsize=(6, 4), layout="constrained")
weights.plot_weights(drawing.add_subplot())
drawing
