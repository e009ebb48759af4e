"""Models of the papers' parameters, one file or one small room each.

Each reads top to bottom: the law, its likelihood, `fit_x`, the result with its interval, a simulator, the source. Nothing here asks
whether the law is right: that is for `calibration.checks`.
"""
