"""Methods that condense a set of images with a class each."""
