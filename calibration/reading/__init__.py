"""Reading speed."""
