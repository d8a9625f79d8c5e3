"""Tables of architectures: the search space of NAS-Bench-Graph and its figures."""
