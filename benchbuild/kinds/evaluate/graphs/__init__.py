"""Judging condensed sets of graphs: what models run on, the models, their training."""
