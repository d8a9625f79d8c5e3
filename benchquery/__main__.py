"""``python -m benchquery`` is the command ``benchquery``."""

import sys

from benchquery.cli import main

sys.exit(main())
