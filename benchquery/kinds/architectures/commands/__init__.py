"""Commands for tables of architectures."""
