"""Exchange of preferences, visits and scores with other tools."""
