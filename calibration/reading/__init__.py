"""Reading speed over workers.

In goes table reads (`rows` says which count); out come mean and spread of log speeds (`fit`, its law and result in
`result`), by a mixture with idle and skimmed reads (`mixture`) or by medians (`medians`, with naive baselines). `items` has what these
leave out. Uses
`calibration.inference` and `calibration.tables`.
"""
