"""Loads the tables of words in the TOML files beside the modules that use them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


@cache
def load_tables(package: str, name: str) -> Mapping[str, Any]:
    """The tables of a TOML file in a package."""
    return tomllib.loads((resources.files(package) / name).read_text(encoding="utf-8"))
