"""``benchquery explore``: tables in a browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_done
from benchquery.program import one_line
from benchquery.text import to_json


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "explore", _run, "look at tables in a browser", "explore --port 8765"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="listen here (127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=_port, default=8765, help="port; 0 for any free one (8765)")
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="don't open a browser"
    )
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FOLDER",
        help="write the page and its data to a new folder for any web server, and end",
    )


def _port(text: str) -> int:
    """Read a port number."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def _run(args: argparse.Namespace) -> None:
    from benchquery.explorer import Site, serve, write_site

    def announce(url: str) -> None:
        said = f"the explorer is at {url} (end it with Ctrl+C)"
        print(to_json({"url": url, "tables": len(site.names)}) if args.json else said, flush=True)

    site = Site(args.source)
    if args.export is not None:
        site.leave_out_damaged()
    for folder, reason in site.left_out:
        print(one_line(f"left out: {folder}: {reason}"), file=sys.stderr)
    if args.export is None:
        serve(site, host=args.host, port=args.port, open_browser=args.browser, announce=announce)
        return
    files = write_site(site, args.export)
    done = {"path": str(args.export), "tables": len(site.names), "files": files}
    print_done(done, f"written to {args.export}: {', '.join(site.names)}", as_json=args.json)
