#!/bin/sh
# Makes benchquery/explorer/static/vendor/ anew from the npm registry: the libraries of the
# explorer's page, at the versions in vendor_explorer/package-lock.json. Needs Node 20 and
# npm. Run again, it makes the same bytes; users and CI never need it.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/benchquery/explorer/static/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp scripts/vendor_explorer/* "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund
node build.mjs "$out"
