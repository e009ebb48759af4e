"""Every parameter that the tables of a study allow."""
