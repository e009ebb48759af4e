"""Study files: schema, reading, faults, platforms and questions.

`entries` has the schema, `file` reads YAML, `faults` words every fault with its line and hint. Reads YAML and
the table of kinds, returns frozen entries. Uses no other room of `study_app`.
"""
