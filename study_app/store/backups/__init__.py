"""Backups of the database in one file, made and restored by the kind of database."""
