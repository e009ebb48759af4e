"""How well measures agree with the preferences of a study."""
