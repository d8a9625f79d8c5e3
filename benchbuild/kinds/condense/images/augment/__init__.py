"""Augmentations of batches of images, in torch alone.

Every augmentation is a function of images and of numbers from 0 to 1, so many for each image.
Nothing else is random. The same numbers give the same augmentation, of one image or of a
thousand, and every image of a batch may have its own: see `Mode`.
"""
