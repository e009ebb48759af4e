"""Estimates of a study's minutes, slots and cost for workers.

Reads a study file with everything it names (`content`), returns estimates with warnings, and the sizes that
`prefcal plan` takes. Uses `study` and `tasks`.
"""
