"""The explorer: a page to look at tables in a browser.

The page and its data are a set of files, a `Site`. `serve` answers for them on this
machine, `write_site` writes them to a folder that any web server can host. Filters,
fronts and drawings are made by the page itself, so both ways show the same.
"""

from benchquery.explorer.folder import write_site
from benchquery.explorer.serving import serve
from benchquery.explorer.site import Site

__all__ = ["Site", "serve", "write_site"]
