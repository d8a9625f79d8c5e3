"""Methods that condense a set of graphs."""
