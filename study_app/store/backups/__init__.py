"""Backups of a database in one file, for each kind of database."""
