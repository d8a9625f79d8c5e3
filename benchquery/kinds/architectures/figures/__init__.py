"""Pictures of tables of architectures."""
