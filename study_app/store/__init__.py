"""The database: tables, migrations, the loaded study as values, keys, checks, backups.

`models` and `task_models` are the tables, `database` opens and commits, `plan` gives what every page reads as plain values, `backups`
copies a database and puts it back. Uses `study` and `tasks`.
"""
