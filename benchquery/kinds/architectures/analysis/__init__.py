"""What tables of architectures say: pure functions from tables to results."""
