r"""DM: :math:`\min_S \mathbb{E} \sum_c \| \mu_c(S; \theta_0) - \mu_c(T; \theta_0) \|^2`.

GCDM at fresh weights only: by default one outer and no inner step (Liu et al., "PUMA: efficient
continual graph learning with graph condensation", 2023).
"""

from benchbuild.kinds.condense.methods.nodes.gcdm import condense

__all__ = ["condense"]
