"""Choosing: settings of a condensation method, tried on validation figures alone."""
