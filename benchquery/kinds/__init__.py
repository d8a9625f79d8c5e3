"""The kinds of table that come with benchquery: a folder each."""
