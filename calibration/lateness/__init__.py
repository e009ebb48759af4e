"""The decay of lateness: how much less often an update is still of use for each visit that it comes late.

In goes table lateness; out come L and p0 (`fit`) with their errors (`intervals`) and a test of the geometric shape (`shape`).
`likelihood` has the law and draws from it, `naive` the baselines. Uses `calibration.inference` and `calibration.tables`.
"""
