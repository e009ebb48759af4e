"""The decay of lateness: how much less often an update is still of use for each visit that it comes late.

In goes table lateness; out come L and p0, or these and a floor (`fit`, with naive baselines). `likelihood` has the law and draws
answers, `floor` the law with a floor and how far either may be off, `laws` what else people may do and which law stands for the answers,
`notes` tests and words for people. Uses `calibration.inference` and `calibration.tables`.
"""
