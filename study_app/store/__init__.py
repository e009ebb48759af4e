"""Database: tables, migrations, cached studies, tokens, checks and backups.

`models` and `task_models` are the tables, `database` opens and commits, `study_cache` gives what every page reads as
plain values, `backups` copies a database and restores it. Uses `study` and `tasks`.
"""
