"""Reading speed over workers.

In goes table reads (`rows` says which count); out come mean and spread of log speeds (`fit`, its result in `result`), by a mixture
with idle and skimmed reads (`law`, `mixture`) or by medians (`medians`), and naive baselines (`naive`). Uses
`calibration.inference` and `calibration.tables`.
"""
