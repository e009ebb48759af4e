"""A first study file from a researcher's own collection and runs: files recognised by what is in them, then written about.

In come paths, out goes study.yaml. Uses `study`, `tasks` and `estimate`.
"""
