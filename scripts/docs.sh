#!/bin/sh
# Builds the site of the docs and the reference in out/site, without a network beyond the package
# registry. A warning, such as a link that leads nowhere, is an error.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

setup_environment .venv-docs --editable '.[docs]'
rm -rf out/site
.venv-docs/bin/python -m sphinx -W --keep-going -q -j auto -d out/.doctrees docs out/site
say "the site is in out/site: open out/site/index.html"
