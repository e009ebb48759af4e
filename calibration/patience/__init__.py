"""Patience L: from preferences, from stops, by the agreement grid; side by side and never pooled.

In go tables preferences, positions, intents and stops; out come all that they tell (`fit`). `pairs` joins judged summaries for
`preferences` (its result in `preference_result`) and `grid`; `stops` uses the survival `curve`; `persistence` is of ranked lists;
`simulate` draws all of it. Uses
`calibration.inference` and `calibration.tables`.
"""
