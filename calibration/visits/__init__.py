"""Visits, cut from a log of activity and joined with their follows.

In go tables activity, follows and visits; out come visits (`cut`), the silence that ends one (`threshold`), and stays in
follows as arrays (`stays`), of which `calibration.models.durations` makes times at risk. `cut` draws logs of known visits too. Uses
`calibration.inference` and `calibration.tables`.
"""
