"""How large a study must be, by simulating it."""
