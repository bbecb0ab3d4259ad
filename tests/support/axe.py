"""Accessibility violations that axe finds on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
AXE = (Path(__file__).parents[1] / "browser" / "axe" / "axe.min.js").read_text(encoding="utf-8")


def findings(page: Page) -> list[str]:
    """What axe finds serious: by all of its rules, and by those about colours in the dark too."""
    page.evaluate(AXE)
    page.emulate_media(color_scheme="light")
    light = _violations(page, {})
    page.emulate_media(color_scheme="dark")
    return light + _violations(page, {"runOnly": ["color-contrast"]})


def _violations(page: Page, options: dict[str, Any]) -> list[str]:
    options = {"resultTypes": ["violations"], **options}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"][:3]
    ]
