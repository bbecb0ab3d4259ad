"""Gets a browser for the tests of the pages, if there is none: `python -m tests.browser.fetch`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.browser.browsing import CHROMIUM

FROM_DEBIAN = (
    ("apt-get", "update", "-qq"),
    ("apt-get", "install", "-qq", "--yes", "--no-install-recommends", "chromium"),
)
FROM_PLAYWRIGHT = ((sys.executable, "-m", "playwright", "install", "chromium"),)
MISSING = "There is no browser, so the tests that need one are left out: install chromium."


def fetched() -> bool:
    """Whether a browser could be got: by the system if that is allowed, else by playwright."""
    from_system = os.geteuid() == 0 and shutil.which("apt-get") is not None
    commands = FROM_DEBIAN if from_system else FROM_PLAYWRIGHT
    return all(subprocess.run(one, check=False).returncode == 0 for one in commands)


def main() -> None:
    """Say which browser there is, or that there is none."""
    if CHROMIUM is None and not fetched():
        print(MISSING, file=sys.stderr)
        sys.exit(1 if os.environ.get("CI") else 0)


if __name__ == "__main__":
    main()
