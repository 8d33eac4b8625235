"""What `mkdocs build` does beside building: pages that are not written yet are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LATER = ("cli.md", "job-file.md")
"""Pages that the navigation may name before they exist; any other must be there."""


def on_config(config: Any) -> Any:
    """Take pages of `LATER` that are not there out of the navigation."""
    missing = {page for page in LATER if not (Path(config["docs_dir"]) / page).exists()}
    config["nav"] = _without(config["nav"], missing)
    return config


def _without(nav: list[Any], missing: set[str]) -> list[Any]:
    kept = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            if isinstance(below, list):
                kept.append({title: _without(below, missing)})
            elif below not in missing:
                kept.append(entry)
        elif entry not in missing:
            kept.append(entry)
    return kept
