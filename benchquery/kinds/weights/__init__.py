"""Tables of operation weights: what differentiable searches weigh."""
