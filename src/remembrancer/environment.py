"""Reads the configuration file and the environment as plain values; nothing else reads the latter.

The file is named by the caller or REMEMBRANCER_CONFIG, or is in the user's configuration directory.
It is never in the working directory, where a cloned repository could redirect a memory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.errors import InvalidSetting

if TYPE_CHECKING:
    from remembrancer.types import Json

VARIABLE_PREFIX = "REMEMBRANCER_"
DEFAULTS = {"profile": "default", "tenant": "home", "user": "me"}
"""The profile, tenant and user if none is configured."""


def read_values(
    path: Path | None = None, environ: Mapping[str, str] | None = None
) -> tuple[dict[str, Json], str]:
    """The values of the file, overridden by the environment, and a description of their origin.

    The values are not validated.
    """
    environ = os.environ if environ is None else environ
    path = path or find_config_file(environ)
    values = _parse_toml(path) if path else {}
    variables = [
        name
        for name in environ
        if name.startswith(VARIABLE_PREFIX) and name != f"{VARIABLE_PREFIX}CONFIG"
    ]
    for name in variables:
        values = deep_merge(values, _nest_variable(name, environ[name]))
    origin = str(path) if path else "the defaults"
    return values, f"{origin} and {VARIABLE_PREFIX}* variables" if variables else origin


def find_config_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """The configuration file that is read if none is named, or None."""
    environ = os.environ if environ is None else environ
    configured = environ.get(f"{VARIABLE_PREFIX}CONFIG")
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_config_path

    default_path = user_config_path("remembrancer") / "remembrancer.toml"
    return default_path if default_path.is_file() else None


def data_directory(path: str | Path | None) -> Path:
    """The configured path, or the user's data directory."""
    if path is not None:
        return Path(path).expanduser()
    from platformdirs import user_data_path

    return user_data_path("remembrancer")


def resolve_directory(variable: str, default: str) -> Path:
    """The directory in another program's environment variable, or its default."""
    return Path(os.environ.get(variable) or default).expanduser()


def extend_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child process with additional variables."""
    return {**os.environ, **variables}


def deep_merge(base: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """`base` overridden by `changes`, table by table."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        both_tables = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = deep_merge(old, value) if both_tables else value  # type: ignore[arg-type]
    return merged


def _parse_toml(path: Path) -> dict[str, Json]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} is not valid TOML: {error}.") from error


def _nest_variable(name: str, value: str) -> dict[str, Json]:
    """`REMEMBRANCER_STORE__URL=x` as `{"store": {"url": "x"}}`."""
    nested: Json = value
    for key in reversed(name.removeprefix(VARIABLE_PREFIX).lower().split("__")):
        nested = {key: nested}
    assert isinstance(nested, dict)
    return nested


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file that only its owner can read if it is new: `open(…, opener=open_private)`."""
    return os.open(path, flags, 0o600)


def create_private_directory(path: Path) -> None:
    """Create a directory that only its owner can enter, and the missing ones above it alike."""
    missing = [one for one in path.parents if not one.exists()]
    for one in (*reversed(missing), path):
        one.mkdir(exist_ok=True, mode=0o700)
