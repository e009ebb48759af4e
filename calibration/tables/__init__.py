"""The tables between the stages: columns, definitions, files, exclusion, study.json and what it names."""
