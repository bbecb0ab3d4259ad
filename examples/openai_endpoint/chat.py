"""Memory for any client of the OpenAI protocol: change only its base URL and key.

rem serve                  with server.upstream.url set, see docs/openai-endpoint.md
rem key-create --user ada
export OPENAI_BASE_URL=http://127.0.0.1:8150/v1 OPENAI_API_KEY=rem_…
python examples/openai_endpoint/chat.py "I moved to Bergen."
python examples/openai_endpoint/chat.py "Where do I live?"
"""

import os
import sys

from openai import OpenAI

with OpenAI() as client:
    stream = client.chat.completions.create(
        model=os.environ.get("MODEL", "gpt-5.4-mini"),
        messages=[{"role": "user", "content": " ".join(sys.argv[1:])}],
        stream=True,
    )
    for event in stream:
        if event.choices:
            print(event.choices[0].delta.content or "", end="", flush=True)
    print()
