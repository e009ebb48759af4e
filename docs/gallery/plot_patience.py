"""
How far people read
===================

Two ways to the patience L of M-measure: from what people prefer, and from where they stop reading.
"""

# %%
# From preferences: the likelihood over the patience, with the interval that it gives.
from matplotlib.figure import Figure

import prefcal

tables = prefcal.read_tables("prefcal-demo/tables")
judged = {name: tables[name] for name in ("preferences", "positions", "intents", "workers")}
patience = prefcal.fit(judged, options=prefcal.FitOptions(checks=False)).results
drawing = Figure(figsize=(6, 4), layout="constrained")
patience["patience_chars_preferences"].plot_profile(drawing.add_subplot())
drawing

# %%
# By the paper's grid: the agreement at each patience that was tried.
drawing = Figure(figsize=(6, 4), layout="constrained")
patience["patience_chars_grid"].plot_agreement(drawing.add_subplot())
drawing

# %%
# From reading: the share of people who are still reading at each character, against the decay that M assumes.
read = {name: tables[name] for name in ("stops", "workers")}
stops = prefcal.fit(read, options=prefcal.FitOptions(checks=False)).results["patience_chars_stops"]
drawing = Figure(figsize=(6, 4), layout="constrained")
stops.plot_survival(drawing.add_subplot())
drawing

# %%
# Down a ranked list: the share of people who go on after each entry, against the persistence p of RBP. No bundled study has
# readers of lists, so these are simulated.
import numpy as np

from calibration.models.persistence import ListReaders, simulate_list_stops

lists = simulate_list_stops(0.8, np.random.default_rng(1), ListReaders())
going_on = prefcal.fit({"stops": lists}, options=prefcal.FitOptions(checks=False)).results["rbp_p"]
drawing = Figure(figsize=(6, 4), layout="constrained")
going_on.plot_steps(drawing.add_subplot())
drawing
