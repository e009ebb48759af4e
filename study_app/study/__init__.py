"""The study file: what it may say (`entries`), reading it (`file`), its faults with line and cure, its platforms and questions.

In comes YAML and the table of kinds, out go frozen entries. Uses no other room of `study_app`.
"""
