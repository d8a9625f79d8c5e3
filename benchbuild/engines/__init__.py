"""Engines: where jobs run, never what they do."""
