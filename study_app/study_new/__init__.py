"""First study file from a researcher's own collection and runs.

It turns paths into study.yaml. It uses `study`, `tasks` and `estimate`.
"""
