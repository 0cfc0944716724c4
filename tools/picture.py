"""Draw docs/explained.svg, the picture of the README."""

from __future__ import annotations

import re
from pathlib import Path

from tallybayes import plots

ROOT = Path(__file__).parents[1]


def display() -> plots.WaterfallDisplay:
    """Explain the applicant of the README with the model of the README."""
    space: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(block, space)
        if "applicant" in space:
            break
    return plots.WaterfallDisplay.from_estimator(space["model"], space["applicant"])


if __name__ == "__main__":
    (ROOT / "docs" / "explained.svg").write_text(plots.svg_of(display()))
