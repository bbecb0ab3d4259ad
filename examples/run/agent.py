"""A minimal agent that answers a question with the lines of its context.

It does not import Remembrancer. `rem run` gives it a file with the relevant memories.
"""

import os
import sys
from pathlib import Path

question = sys.argv[1]
context = Path(os.environ["REM_CONTEXT_FILE"]).read_text(encoding="utf-8")
known = [line.removeprefix("- ") for line in context.splitlines() if line.startswith("- ")]

print(f"You ask: {question}")
for line in known or ["Nothing is remembered of that."]:
    print(f"I was told: {line}")
