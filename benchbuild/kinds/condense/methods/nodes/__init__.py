"""Methods that condense one graph with labelled nodes."""
