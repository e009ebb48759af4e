"""A first study file from a researcher's own collection and runs: files recognised by what is in them, then written about."""
