"""How well workers agree with each other and with themselves."""
