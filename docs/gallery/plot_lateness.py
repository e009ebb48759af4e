"""
What lateness costs
===================

"Was this still of use?", asked about updates that were told some visits late.
"""

# %%
# The share of yes by visits late, with the fitted decay.
from matplotlib.figure import Figure

import prefcal

tables = prefcal.read_tables("prefcal-demo/tables")
asked = {name: tables[name] for name in ("lateness", "workers")}
lateness = prefcal.fit(asked, options=prefcal.FitOptions(checks=False)).results["lateness_decay"]
drawing = Figure(figsize=(6, 4), layout="constrained")
lateness.plot_proportions(drawing.add_subplot())
drawing
