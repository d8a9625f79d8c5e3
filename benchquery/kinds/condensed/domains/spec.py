"""What a domain of condensation is: the sizes, methods, tasks and models of one sort of data.

Configurations are canonical without torch because a domain says here what its names and defaults
are. What a default of a method or task is worth is part of its recipe: changing one, or what it
does, needs a new ``recipe``; a new hyper-parameter whose default keeps the old behaviour does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

from benchquery.allowed import Allowed, Value

RECIPE = "1"
"""The recipe that every method and every task of evaluation begins with."""
NONE = "none"
"""The initialisation of a method that makes nothing of its own."""
AS_RELEASED = "as-released"
"""The protocol that keeps what the published code does."""

EVERY = "*"
"""Any dataset, where a method says what differs by size."""

Family = Literal[
    "core-set", "gradient", "distribution", "trajectory", "kernel", "spectral", "mining"
]
Size = Literal["ratio", "per_class"]
"""What says how large the result of a condensation is: its nodes relative to the original graph's,
or the number of graphs or images of each class."""


@dataclasses.dataclass(frozen=True)
class MethodSpec:
    """A condensation method.

    Attributes:
        module: The module that has its function ``condense``.
        family: What it matches.
        init: Its usual initialisation; ``none`` if it selects instead of making anything.
        backbone: The model it usually matches or embeds with; ``none`` if it needs no model.
        defaults: Its hyper-parameters.
        by_dataset: What differs on some datasets.
        by_size: What differs there, or on `EVERY` dataset, from some size on: of sizes that are not
            greater than the one that is asked for, the greatest counts.
        allowed: What values some of its hyper-parameters may have, where
            `benchquery.kinds.condensed.hyperparameters.ALLOWED` says nothing or something else.
        diagnostics: Figures of its snapshots that need validation labels, by name: who judges them
            works those out, and the trace has them beside the losses.
        recipe: Version of its defaults and of what it does; part of the hash of each of its
            configurations and of no other's.
        recipes: The version on some datasets, where only their settings changed.
        chosen_on_test: Whether the published code chooses its snapshot by the test set. Protocol
            ``as-released`` does so too, and nothing else ever does.
        domain: The sort of data that it condenses.
        begins: The initialisations that it can begin with; none for all of its domain's.
        released: What it is under the protocol ``as-released`` where that has settings, and so a
            recipe, of its own; None if only faults are kept.
        unreleased: Why there is no such protocol of it; empty if there is.
    """

    module: str
    family: Family
    init: str
    backbone: str
    defaults: Mapping[str, Value]
    by_dataset: Mapping[str, Mapping[str, Value]] = dataclasses.field(default_factory=dict)
    by_size: Mapping[str, Mapping[float, Mapping[str, Value]]] = dataclasses.field(
        default_factory=dict
    )
    allowed: Mapping[str, Allowed] = dataclasses.field(default_factory=dict)
    diagnostics: tuple[str, ...] = ()
    recipe: str = RECIPE
    recipes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    chosen_on_test: bool = False
    domain: str = "nodes"
    begins: tuple[str, ...] = ()
    released: MethodSpec | None = None
    unreleased: str = ""

    def under(self, protocol: str) -> MethodSpec:
        """Return what the method is under a protocol."""
        return self.released or self if protocol == AS_RELEASED else self

    def recipe_on(self, dataset: str) -> str:
        """Return the version of the recipe on a dataset."""
        return self.recipes.get(_base(dataset), self.recipe)

    def hyperparameters(self, dataset: str, size: float = 0) -> dict[str, Value]:
        """Return the hyper-parameters on a dataset, in the order of their names.

        Args:
            dataset: The dataset.
            size: How large the result is to be.
        """
        base = _base(dataset)
        steps = self.by_size.get(base, self.by_size.get(EVERY, {}))
        reached = max((step for step in steps if step <= size), default=None)
        own = {**self.by_dataset.get(base, {}), **(steps[reached] if reached is not None else {})}
        return dict(sorted({**self.defaults, **own}.items()))


def _base(dataset: str) -> str:
    """Return the name of a dataset without its parameters."""
    return dataset.partition(":")[0]


@dataclasses.dataclass(frozen=True)
class ModelFamily:
    """Models of one space, too many to have names: each is called ``family:text``.

    Attributes:
        read: Returns the canonical text of a member; raises `ArchitectureError` if there is none.
        sample: Draws so many different members with a seed, and returns their texts.
    """

    read: Callable[[str], str]
    sample: Callable[[int, int], tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What models that are trained on condensed data are asked to do.

    Attributes:
        models: The models that can do it, the usual one first.
        defaults: The hyper-parameters of their training.
        by_model: What differs for some models; ``epochs`` are the same for all.
        allowed: What values some of them may have, where
            `benchquery.kinds.condensed.hyperparameters.ALLOWED` says nothing or something else.
        presets: Settings of papers by name: what differs from the defaults.
        recipe: Version of the defaults and of what is done; part of the hash of each evaluation of
            this task and of no other's.
        families: Families of models that can do it, by name.
        measures: Further test figures beside the metric, by the names of their columns.
    """

    models: tuple[str, ...]
    defaults: Mapping[str, Value]
    by_model: Mapping[str, Mapping[str, Value]] = dataclasses.field(default_factory=dict)
    allowed: Mapping[str, Allowed] = dataclasses.field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Value]] = dataclasses.field(default_factory=dict)
    recipe: str = RECIPE
    families: Mapping[str, ModelFamily] = dataclasses.field(default_factory=dict)
    measures: tuple[str, ...] = ()

    def hyperparameters(self, model: str) -> dict[str, Value]:
        """Return the hyper-parameters of a model's training."""
        return {**self.defaults, **self.by_model.get(model, {})}

    def member(self, model: str) -> str | None:
        """Return the canonical name of a member of a family; None if the model is in none.

        Raises:
            ArchitectureError: If its family has no such member.
        """
        family, _, text = model.partition(":")
        return f"{family}:{self.families[family].read(text)}" if family in self.families else None


@dataclasses.dataclass(frozen=True)
class DomainSpec:
    """A sort of data that can be condensed.

    Attributes:
        name: Its name.
        many: What its results are called.
        size: What says how large a result is.
        datasets: The datasets of the house that are of this sort; one that no domain names is taken
            for one graph with labelled nodes unless told otherwise.
        methods: The methods by name, in the order in which they are listed.
        inits: What the result may begin as.
        backbones: The models that may be matched.
        tasks: The tasks by name, the usual one first.
        form: The form of what is usually kept (`benchquery.kinds.condensed.forms`); other forms of
            the domain have the same columns in tables.
        two_metrics: Whether rows have both accuracy and ROC-AUC, the dataset's own as ``perf``.
        judge_epochs: Epochs that a snapshot is judged by at most, in the usual task by the usual
            model; the final evaluation has all that it asks for.
    """

    name: str
    many: str
    size: Size
    datasets: tuple[str, ...]
    methods: Mapping[str, MethodSpec]
    inits: tuple[str, ...]
    backbones: tuple[str, ...]
    tasks: Mapping[str, TaskSpec]
    form: str
    two_metrics: bool = False
    judge_epochs: int = 200

    @property
    def task(self) -> str:
        """The usual task."""
        return next(iter(self.tasks))

    @property
    def model(self) -> str:
        """The usual model of the usual task."""
        return self.tasks[self.task].models[0]

    @property
    def models(self) -> tuple[str, ...]:
        """All models, those of the usual task first."""
        return tuple(dict.fromkeys(one for task in self.tasks.values() for one in task.models))

    @property
    def families(self) -> tuple[str, ...]:
        """All families of models."""
        return tuple(dict.fromkeys(one for task in self.tasks.values() for one in task.families))
