"""Judging condensed graphs: one file a task."""
