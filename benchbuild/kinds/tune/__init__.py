"""Tuning: hyper-parameters of a dataset, tried on anchor architectures."""
