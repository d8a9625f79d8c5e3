"""Tables of condensed graphs."""
