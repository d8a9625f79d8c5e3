"""The kinds of job, a folder each; `benchbuild.pipeline.registry` knows them by name."""
