"""Times away and session lengths of MSU's users: M and S of the workers' means.

In go tables follows and visits (`exposures` makes times at risk of them); out come M and S (`fit`, its result and errors in
`result`), from the `likelihood` and its `maximum`, with `checks` of the model, and `other_laws` that may stand in its place.
Naive baselines stand beside the result. `simulate` draws diaries. Uses `calibration.visits`, `calibration.inference` and `calibration.tables`.
"""
