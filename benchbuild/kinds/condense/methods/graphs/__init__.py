"""Methods that condense a set of graphs with a class each."""
