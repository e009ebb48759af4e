"""One parameter of a paper a file, or a small room where the mathematics is long.

Each reads top to bottom: the law, its likelihood, `fit_x`, the result with its interval, a simulator, the source. Nothing here asks
whether the law is right: that is for `calibration.checks`.
"""
