"""The weights of push notifications, and T11U's alpha, from preferences between push streams.

In go tables preferences and push_cells (`pairs` joins them); out come weights (`fit`) and alpha (in `pain`), both found by
`search` under a `likelihood` of choices, with `errors` by workers and topics, forms of `pain`, and `notes` for people with the baselines;
`simulate` draws judges. Uses `calibration.inference` and `calibration.tables`.
"""
