"""Training architectures: the cell network, its training, its costs."""
