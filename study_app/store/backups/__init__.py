"""Backups: a copy of the database in one file (`backup`), made for each kind of database in its own way, and back again."""
