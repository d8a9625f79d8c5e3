r"""The vision transformer of DC-Bench, for small images.

.. math::
    Z_0 = [c; P W] + E, \qquad
    Z' = Z + \mathrm{attention}(\mathrm{norm}(Z)), \qquad
    Z \leftarrow Z' + \mathrm{mlp}(\mathrm{norm}(Z'))

with patches P of 4 x 4 pixels, a class token c whose last state is classified, and learnt places E.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.errors import ArchitectureError
from benchbuild.kinds.condense.images.networks import Shape

PATCH, DIM, DEPTH, HEADS, MLP_DIM, DROPOUT = 4, 512, 6, 8, 512, 0.1


class Attention(nn.Module):
    """Attention of all patches to all, in several heads side by side.

    Args:
        dim: Width of a token, shared out among the heads.
        heads: Number of heads.
        dropout: Share of the output that is dropped in training.
    """

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self._heads = heads
        self.inputs = nn.Linear(dim, 3 * dim, bias=False)
        self.output = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(dropout))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return what the tokens hear."""
        images, count, dim = tokens.shape
        parts = self.inputs(tokens).view(images, count, 3, self._heads, dim // self._heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        heard = functional.scaled_dot_product_attention(query, key, value)
        out: Tensor = self.output(heard.transpose(1, 2).reshape(images, count, dim))
        return out


class Layer(nn.Module):
    """Attention, then an MLP for each token, both with a norm before and a sum after."""

    def __init__(self, dim: int, heads: int, mlp_dim: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(dim), Attention(dim, heads, dropout))
        self.mlp = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, mlp_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(mlp_dim, dim),
            nn.Dropout(dropout),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens after this layer."""
        between = tokens + self.attention(tokens)
        out: Tensor = between + self.mlp(between)
        return out


class ViT(nn.Module):
    """The vision transformer.

    Args:
        shape: Shape of the images.
        num_classes: Number of classes.
        patch: Side of a patch.
        dim: Width of a token.
        depth: Number of layers.
        heads: Heads of each.
        mlp_dim: Hidden units of the MLP of each.
        dropout: Share that is dropped in training.

    Raises:
        ArchitectureError: If images are not whole patches, or heads don't share a token out.
    """

    def __init__(
        self,
        shape: Shape,
        num_classes: int,
        *,
        patch: int = PATCH,
        dim: int = DIM,
        depth: int = DEPTH,
        heads: int = HEADS,
        mlp_dim: int = MLP_DIM,
        dropout: float = DROPOUT,
    ) -> None:
        super().__init__()
        channels, height, width = shape
        if height % patch or width % patch or dim % heads:
            raise ArchitectureError(
                f"a ViT of {heads} heads can't take images of {height} x {width} pixels: they must "
                f"be whole patches of {patch} pixels, and the width {dim} whole heads"
            )
        tokens = (height // patch) * (width // patch) + 1
        self.patches = nn.Conv2d(channels, dim, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, dim))
        self.places = nn.Parameter(torch.randn(1, tokens, dim))
        self.layers = nn.Sequential(
            nn.Dropout(dropout), *(Layer(dim, heads, mlp_dim, dropout) for _ in range(depth))
        )
        self.norm = nn.LayerNorm(dim)
        self.classifier = nn.Linear(dim, num_classes)

    def embed(self, images: Tensor) -> Tensor:
        """Return (images, dim) the last state of the class token."""
        patches = self.patches(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(images), -1, -1), patches], dim=1)
        out: Tensor = self.norm(self.layers(tokens + self.places)[:, 0])
        return out

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of images."""
        out: Tensor = self.classifier(self.embed(images))
        return out
