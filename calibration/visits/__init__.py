"""Visits, cut from a log of activity and joined with their follows.

The package turns tables activity, follows and visits into visits (`cut`), the silence that ends one (`threshold`), and visits in
follows as arrays (`followed_visits`), from which `calibration.models.durations` makes times at risk. `simulate` draws logs of known
visits. It uses `calibration.inference` and `calibration.tables`.
"""
