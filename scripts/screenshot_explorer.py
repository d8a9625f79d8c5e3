"""Makes the pictures of the explorer in docs/images with headless Chromium.

    python scripts/screenshot_explorer.py [FOLDER]

Needs the extra ``web``, the package playwright and a Chromium: Debian's package
``chromium``, or the one that the variable CHROMIUM names.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.benchquery.explorer.running import (  # noqa: E402
    ALL_FILLED,
    running_browser,
    running_explorer,
)

PICTURES = {
    "explorer-light": (1440, 900, "light", "table=cora&focus=76727"),
    "explorer-dark": (1440, 900, "dark", "table=cora&with=gin&without=skip&focus=12227"),
    "explorer-phone": (390, 844, "light", "table=cora&focus=76727"),
    "explorer-compare": (1440, 900, "light", "table=cora&other=citeseer&x=valid_perf&colour=gin"),
}
"""By name of the picture: width, height, theme, and the view as in the page's address."""


def main() -> None:
    """Take every picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with running_explorer() as url, running_browser() as browser:
        for name, (width, height, theme, view) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                reduced_motion="reduce",
            )
            page.goto(f"{url}#{view}")
            page.wait_for_selector("body[data-ready]")
            page.wait_for_selector(".neighbours li")
            page.wait_for_function(ALL_FILLED)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=folder / f"{name}.png")
            page.close()
            print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
