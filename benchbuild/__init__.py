"""benchbuild trains the architectures of a search space and writes the tables benchquery opens."""
