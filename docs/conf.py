"""How the site of the docs is built; see scripts/docs.sh."""

from benchquery import __version__

project = "GraphTab"
author = "The GraphTab authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
html_theme = "furo"
html_title = "GraphTab"
templates_path: list[str] = []

# What the reference of benchbuild names without having to import it.
autodoc_mock_imports = [
    "torch", "torch_geometric", "ogb", "pandas", "scipy", "sklearn", "ray", "submitit", "ot",
    "threadpoolctl", "tqdm",
]  # fmt: skip
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Docstrings quote names in single backquotes; they are names, whatever they are names of.
default_role = "code"
suppress_warnings = ["config.cache", "autodoc.mocked_object"]
