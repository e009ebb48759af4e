"""The database: tables, migrations, the loaded study as values, keys, checks, backups.

`models` and `task_models` are the tables, `database` opens and commits, `plan` gives what every page reads as plain values. Uses `study`
and `tasks`.
"""
