"""Values of the pages, one for each template."""
