r"""The models that are trained on a condensed set of graphs to judge it.

A layer is :math:`\sigma(\mathbf{M} \mathbf{H} \mathbf{W} + \mathbf{b})`, with or without batch
normalisation before ReLU; then the nodes of each graph are pooled and a linear map gives its
classes. The parameters are those of PyG's layers. The two models differ in M and in the last layer:

=====  ===================================================================================
gcn    :math:`\mathbf{M} = \hat{\mathbf{A}}`, normalised symmetrically with its weights; all layers
       end in ReLU, as in DosCond
gin    :math:`\mathbf{M} = \mathbf{A} + \mathbf{I}`, the sum of the neighbours in proportion to the
       weights of their edges; one linear map a layer, the last layer without normalisation and
       without ReLU, as in KiDD and GC-Bench. There the share of the node itself is learnt; here it
       is 1.
=====  ===================================================================================
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GCNConv, GINConv

from benchbuild.errors import EvaluationError
from benchbuild.kinds.evaluate.graphs.folding import Exam
from benchbuild.kinds.evaluate.graphs.operands import Factors, Shape
from benchbuild.kinds.train.training.operations import terms
from benchquery.kinds.condensed.config import EvalConfig

MODELS = ("gcn", "gin")


def shape_of(config: EvalConfig) -> Shape:
    """Return what a model takes products with.

    Raises:
        EvaluationError: If there is no such model of graphs.
    """
    if config.model not in MODELS:
        raise EvaluationError(
            f"model {config.model!r} does not classify graphs; allowed: {', '.join(MODELS)}"
        )
    return Shape(
        op=config.model,
        layers=config.count("layers"),
        pooling=str(config["pooling"]),
        linear_end=config.model == "gin",
    )


class GraphModel(nn.Module):
    """Names the class of graphs; its weights come from torch's global generator.

    Args:
        config: The model.
        num_features: Width of the features.
        num_classes: Number of classes.
    """

    def __init__(self, config: EvalConfig, num_features: int, num_classes: int) -> None:
        super().__init__()
        shape, width = shape_of(config), config.count("hidden")
        inputs = [num_features, *[width] * (shape.layers - 1)]
        self._linear_end = shape.linear_end
        self._dropout = config.number("dropout")
        self.convs = nn.ModuleList(_conv(shape.op, size, width) for size in inputs)
        has_norm = config["norm"] == "batch"
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(width) if has_norm else nn.Identity() for _ in range(shape.steps)
        )
        self.head = nn.Linear(width, num_classes)

    def forward(self, graphs: Factors) -> Tensor:
        """Return the logits of every graph."""
        h = graphs.start
        for step, norm in enumerate(self.norms):
            part = terms(self.convs[step])
            assert part.neighbours is not None
            if step == 0:
                h = functional.linear(h, part.neighbours, part.bias)
            else:
                h = (graphs.matrices[step - 1] @ (h @ part.neighbours.t())).add_(part.bias)
            h = functional.dropout(self._normalised(norm, h).relu_(), self._dropout, self.training)
        pooled = graphs.readout @ h
        if self._linear_end:
            part = terms(self.convs[-1])
            assert part.neighbours is not None
            pooled = torch.addmm(graphs.counts * part.bias, pooled, part.neighbours.t())
        logits: Tensor = self.head(pooled)
        return logits

    def _normalised(self, norm: nn.Module, h: Tensor) -> Tensor:
        if isinstance(norm, nn.BatchNorm1d) and self.training and len(h) == 1:
            raise EvaluationError("batch normalisation needs more than one node to learn on")
        out: Tensor = norm(h)
        return out

    @torch.no_grad()
    def tried(self, exam: Exam) -> Tensor:
        """Return the logits of every graph of an exam, without dropout or gradients."""
        self.eval()
        return torch.cat([self(part) for part in exam.parts])


def _conv(op: str, inputs: int, outputs: int) -> Any:
    return GCNConv(inputs, outputs) if op == "gcn" else GINConv(nn.Linear(inputs, outputs))
