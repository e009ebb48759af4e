"""What is wrong with an installation."""
