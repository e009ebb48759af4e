"""First study file from a researcher's own collection and runs.

In come paths, out goes study.yaml. Uses `study`, `tasks` and `estimate`.
"""
