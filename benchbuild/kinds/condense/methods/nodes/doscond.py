r"""DosCond: :math:`\min_S \mathbb{E} D(\nabla \ell(S; \theta_0), \nabla \ell(T; \theta_0))`.

GCond at fresh weights only: by default one outer and no inner step, so that many more epochs are
affordable (Jin et al., "Condensing graphs via one-step gradient matching", 2022).
"""

from benchbuild.kinds.condense.methods.nodes.gcond import condense

__all__ = ["condense"]
