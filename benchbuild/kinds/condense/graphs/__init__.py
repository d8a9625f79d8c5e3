"""Condensing sets of graphs: what methods of this domain see, make and share."""
