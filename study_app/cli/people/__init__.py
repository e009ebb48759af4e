"""Commands about the people of a study: whom to remind, to pay and to forget."""
