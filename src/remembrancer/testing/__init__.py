"""Test doubles for programs that use Remembrancer: an embedder and a language model endpoint.

store = remembrancer.open(":memory:", embedder=FakeEmbedder())

with ModelEndpoint([says({"operations": []})]) as endpoint:
    ...  # configure models.fast with url = endpoint.openai
"""

from remembrancer.testing.embedder import FakeEmbedder
from remembrancer.testing.model_endpoint import (
    ModelEndpoint,
    RecordedRequest,
    ScriptedCall,
    ScriptedReply,
    fails,
    resets,
    says,
    sends,
    streams,
)

__all__ = [
    "FakeEmbedder",
    "ModelEndpoint",
    "RecordedRequest",
    "ScriptedCall",
    "ScriptedReply",
    "fails",
    "resets",
    "says",
    "sends",
    "streams",
]
