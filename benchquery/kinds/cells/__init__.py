"""Tables of cell networks: NAS-Bench-201, whose table its owner supplies."""
