"""Differentiable search: supernets and the weights of their operations."""
