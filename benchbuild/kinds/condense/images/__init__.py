"""What methods that condense images share: networks, augmentations, tangent kernels."""
