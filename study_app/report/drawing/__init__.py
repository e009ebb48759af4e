"""How figures and the page look."""
