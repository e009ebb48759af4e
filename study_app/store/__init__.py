"""The database: tables, the loaded study as values, writers, keys."""
