"""What careless code makes of the same tables: wrong on purpose, for the docs that say how wrong; nothing here is part of prefcal."""
