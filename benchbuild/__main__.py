"""``python -m benchbuild``: the same as the command ``benchbuild``."""

import sys

from benchbuild.cli import main

if __name__ == "__main__":
    sys.exit(main())
