"""Sets of labelled images: the `ImageSet` they are loaded into, and one file a family."""
