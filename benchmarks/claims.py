"""What the papers say of their tables, checked number by number: makes docs/paper-claims.md.

    python benchmarks/claims.py > docs/paper-claims.md

The published tables of NAS-Bench-Graph come with GraphTab, so all that its paper says of them can
be checked. What GC-Bench and DC-Bench say is about trainings of their own: it is held against the
figures that they print, and against the tables that were measured here. Where there is no table,
the page says so. The statements stand in ``papers``, a file a paper.
"""

from __future__ import annotations

from papers import dc_bench, gc_bench, nas_bench_graph
from papers.claim import claims_table, observations_table
from papers.results import condensed
from table2 import DATASETS

_PAGE = """\
# What the papers say, checked

`python benchmarks/claims.py` makes this page from the tables that come with GraphTab; a test holds
the two together. Where a verdict needs a cut-off, such as "above 1.05 times random" in the one on
mutations, it was chosen with the figures in view.

## NAS-Bench-Graph

Every statement of the paper about its tables that a number can check. Numbers are in the order
{order} unless said.

{nas}

What stands in no paper, but belongs beside these figures ([analyses](analysis.md)):

{beside}

## GC-Bench

Its figures are of its own trainings, so there are two checks. One is by the tables that it prints:
do they say what the text says? The other is by tables measured here, of single graphs ({nodes})
and of sets of graphs ({graphs}). Those are few datasets and few seeds: a count of them neither
confirms nor refutes a table of the paper. "No table" stands where a statement rests on a picture
only, or nothing like it was run here.

{gc}

## DC-Bench

The same. Its figures are of networks of full width and long trainings; the tables measured here are
reduced in both ([how](images.md)): {images}.

{dc}
"""


def named(domain: str) -> str:
    """Return the names of the tables of one domain that were measured here."""
    return ", ".join(f"`{name}`" for name in condensed(domain)) or "none"


def page() -> str:
    """Return the whole page."""
    return _PAGE.format(
        order=", ".join(DATASETS),
        nas=claims_table(claim() for claim in nas_bench_graph.NAS_BENCH_GRAPH),
        beside=nas_bench_graph.beside(),
        nodes=named("nodes"),
        graphs=named("graphs"),
        gc=observations_table(gc_bench.observations()),
        images=named("images"),
        dc=observations_table(dc_bench.observations()),
    )


if __name__ == "__main__":
    print(page(), end="")
