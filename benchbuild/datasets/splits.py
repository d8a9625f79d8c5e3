"""Splits into training, validation and test, and the largest component."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from benchbuild.datasets.size import SPLIT_SEED, tenths
from benchbuild.errors import DatasetError


def per_class_split(
    y: Tensor, train: int, valid: int, seed: int = SPLIT_SEED
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw a number of training and validation nodes of each class; the rest are test nodes.

    The generator is numpy's RandomState, whose stream is frozen, so the split never changes.

    Args:
        y: Class of every node.
        train: Training nodes per class.
        valid: Validation nodes per class.
        seed: Seed of the draw.

    Returns:
        The training, validation and test masks.

    Raises:
        DatasetError: If a class is too small to leave a test node.
    """
    random = np.random.RandomState(seed)
    masks = torch.zeros(3, y.shape[0], dtype=torch.bool)
    for label in np.unique(y.numpy()):
        members = np.flatnonzero(y.numpy() == label)
        if members.size <= train + valid:
            raise DatasetError(
                f"class {label} has {members.size} nodes, too few for {train} training and "
                f"{valid} validation nodes and at least one test node"
            )
        order = torch.from_numpy(random.permutation(members))
        masks[0, order[:train]] = True
        masks[1, order[train : train + valid]] = True
        masks[2, order[train + valid :]] = True
    return masks[0], masks[1], masks[2]


def tenths_split(y: Tensor, seed: int = SPLIT_SEED) -> tuple[Tensor, Tensor, Tensor]:
    """Draw a tenth of each class for validation and another for test; the rest is for training.

    Args:
        y: Class of every graph.
        seed: Seed of the draw, which never changes, as in `per_class_split`.

    Returns:
        The numbers of the training, validation and test graphs, ascending.

    Raises:
        DatasetError: If a class has fewer than three graphs.
    """
    random = np.random.RandomState(seed)
    parts: tuple[list[np.ndarray], ...] = ([], [], [])
    for label in np.unique(y.numpy()):
        members = random.permutation(np.flatnonzero(y.numpy() == label))
        if members.size < 3:
            raise DatasetError(
                f"class {label} has {members.size} graphs, too few for one each in training, "
                "validation and test"
            )
        drawn = np.split(members, np.cumsum(tenths(members.size))[:-1])
        for part, numbers in zip(parts, drawn, strict=True):
            part.append(numbers)
    train, valid, test = (torch.from_numpy(np.sort(np.concatenate(part))) for part in parts)
    return train, valid, test


def largest_component(adjacency: csr_matrix) -> np.ndarray:
    """Return the nodes of the largest connected component, in ascending order."""
    _, component = connected_components(adjacency, directed=False)
    return np.flatnonzero(component == np.bincount(component).argmax())
