"""Commands about judges that are no people: what to ask them, how they are run, how their answers come into tables."""
