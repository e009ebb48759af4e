"""What a study asks of workers: minutes, places, cost.

In comes a study file with everything it names (`content`), out go estimates with warnings, and the sizes that `prefcal plan` takes.
Uses `study` and `tasks`.
"""
