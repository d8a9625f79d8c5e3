"""Judges condensed sets of images: networks that learn on them are tried on original images."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from benchbuild.datasets.images.image_set import ImageSet
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.evaluate.images.trial import Lesson, Part, Trial
from benchquery.kinds.condensed.config import EvalConfig

TASK = "image-classification"


class ImageEvaluator:
    """Tries networks on one set of images; see `benchbuild.kinds.condense.evaluator`.

    Args:
        data: The dataset.
        device: Where to compute.
    """

    def __init__(self, data: ImageSet, device: torch.device) -> None:
        self._data = data
        self._device = device
        self._full = cache(self._train_on_all)

    def evaluate(self, payload: CondensedImages, config: EvalConfig) -> Evaluation:
        """Train a network on a condensed set; try it on validation and test images.

        Raises:
            EvaluationError: If the set is empty or not of this dataset, or the task or the network
                is not one of such images.
        """
        trial = Trial(self._data, self._lesson(payload, config), (self._valid, self._test))
        return trial.run(config, epochs=config.count("epochs"), every=config.count("tried_every"))

    def judge(self, payload: CondensedImages, config: EvalConfig) -> float:
        """Return the validation metric of a network trained on a condensed set, at its last epoch.

        Test images are not looked at, and validation images once.
        """
        trial = Trial(self._data, self._lesson(payload, config), (self._valid,))
        epochs = config.count("epochs")
        return trial.run(config, epochs=epochs, every=epochs).valid_perf

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same network on all training images; worked out once.

        It takes ``full_epochs``. Where there are more than ``full_images`` training images, nothing
        is trained, and there are no figures but the reason.
        """
        return self._full(config)

    def diagnose(self, name: str, payload: CondensedImages) -> float:
        """Refuse: no method of this domain has such a figure.

        Raises:
            EvaluationError: Always.
        """
        raise EvaluationError(f"unknown diagnostic {name!r}; sets of images have none")

    @property
    def _valid(self) -> Part:
        return Part(self._data, self._data.valid_index, self._device)

    @property
    def _test(self) -> Part:
        return Part(self._data, self._data.test_index, self._device)

    def _train_on_all(self, config: EvalConfig) -> Evaluation:
        data, epochs, most = self._data, config.count("full_epochs"), config.count("full_images")
        if len(data.train_index) > most:
            return Evaluation.nothing(
                epochs,
                f"no network was trained on the whole set: its {len(data.train_index):,} training "
                f"images are more than full_images={most}",
            )
        x, y = data.normalised(data.train_index), data.y[data.train_index]
        lesson = Lesson(x.to(self._device), y.to(self._device))
        trial = Trial(data, lesson, (self._valid, self._test))
        return trial.run(config, epochs=epochs, every=config.count("tried_every"))

    def _lesson(self, payload: CondensedImages, config: EvalConfig) -> Lesson:
        if config.task != TASK:
            raise EvaluationError(
                f"task {config.task!r} can't be tried on a set of images; allowed: {TASK}"
            )
        self._check(payload.x, payload.y)
        return Lesson(payload.x.to(self._device), payload.y.to(self._device))

    def _check(self, x: Tensor, y: Tensor) -> None:
        name, data = self._data.name, self._data
        if not len(x):
            raise EvaluationError("the condensed set has no images to learn on")
        if tuple(x.shape[1:]) != data.shape:
            raise EvaluationError(
                f"the condensed set has images of the shape {tuple(x.shape[1:])}; those of {name} "
                f"have {data.shape}"
            )
        if y.dim() == 2 and y.shape[1] != data.num_classes:
            raise EvaluationError(
                f"the condensed set has probabilities of {y.shape[1]} classes; {name} has "
                f"{data.num_classes}"
            )
        if y.dim() == 1 and not 0 <= int(y.min()) <= int(y.max()) < data.num_classes:
            raise EvaluationError(
                f"the condensed set has classes from {int(y.min())} to {int(y.max())}; those of "
                f"{name} go from 0 to {data.num_classes - 1}"
            )
