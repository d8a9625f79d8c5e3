"""DSA: DC with differentiable siamese augmentation, after Zhao and Bilen (2021).

The images of a class, real and synthetic, are augmented alike before their gradients are compared,
and networks learn on augmented images. Only defaults differ from DC.
"""

from benchbuild.kinds.condense.methods.images.dc import condense

__all__ = ["condense"]
