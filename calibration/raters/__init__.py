"""Agreement, consistency and side bias of raters.

In go tables preferences and importance; out come coefficients of agreement (`agreement`, for `preferences` and `importance`),
of `consistency` and of leaning to one side (in `preferences`), all in one report (`quality`). `simulate` draws raters. Uses `calibration.inference` and
`calibration.tables`.
"""
