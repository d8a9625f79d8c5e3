"""Graph condensation: one file a method, beside what they share."""
