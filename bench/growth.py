"""How we do at one size, in a process of its own: `python -m bench.growth PLACE TURNS`, as JSON.

The store is filled with vectors computed once per sentence; what is timed then uses the real
embedder, each time right after the bare embedding of the same text, so that both meet the same
machine.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

import remembrancer
from bench.made_up import conversations, questions, sentences
from remembrancer.config import Settings
from remembrancer.embed.local import LocalEmbedder
from remembrancer.memory import Memory
from remembrancer.search.sentences import split_into_units
from remembrancer.store.contract import Embedding

QUERIES = 200
WRITES = 100
INGESTED = 400
NEAREST = 50


class Remembering:
    """An embedder that computes each text once, whoever says it, to fill a store quickly."""

    def __init__(self, embedder: LocalEmbedder, known: dict[str, NDArray[np.float32]]) -> None:
        self.model, self.dimensions = embedder.model, embedder.dimensions
        self._embedder = embedder
        self._known = known

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        said = [text.partition(": ")[2] or text for text in texts]
        missing = list(dict.fromkeys(text for text in said if text not in self._known))
        self._known |= dict(zip(missing, self._embedder.embed(missing), strict=True))
        return np.stack([self._known[text] for text in said])


def main() -> None:
    """Fill the place, then measure in this process; with `fill` or `measure`, only that."""
    what, place, turns = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if what == "fill":
        fill(place, turns)
    else:
        print(json.dumps(measured(place, turns)))


def fill(place: str, turns: int) -> None:
    """Put made-up conversations into the store of the user `bench`."""
    embedder = Remembering(LocalEmbedder(), embedded_once())
    with remembrancer.open(place, settings=Settings(), embedder=embedder) as store:
        me = store.for_user("bench")
        for number, said in enumerate(conversations(turns)):
            me.append(said, session=f"{turns} turns, {number}")


def embedded_once() -> dict[str, NDArray[np.float32]]:
    """The vectors of all sentences, kept between runs: computing them takes a minute or two."""
    texts = sentences()
    kept = user_cache_path("remembrancer") / "bench" / "sentences.npy"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, LocalEmbedder().embed(texts))
    return dict(zip(texts, np.load(kept), strict=True))


def measured(place: str, turns: int) -> dict[str, Any]:
    """Everything about one size."""
    bare = LocalEmbedder()
    bare.embed(["warm up"])
    with remembrancer.open(place, settings=Settings()) as store:
        me = store.for_user("bench")
        first = seconds(me.recall, "What did Noor say?")
        found: dict[str, Any] = {
            "turns": turns,
            "first_recall_ms": 1000 * first,
            "recall": recalls(me, bare),
            "context": contexts(me),
            "write": writes(me, bare),
            "ingest": ingest(me, bare),
            "memory_mb": {"resident": resident(), "peak": peak()},
        }
        # Last, because the exact answer needs all vectors at once.
        return {**found, "vector_recall": vector_recall(me)}


def recalls(me: Memory, bare: LocalEmbedder) -> dict[str, float]:
    """Recall beside the bare embedding of the same questions."""
    asked = questions(QUERIES + 20)
    for question in asked[QUERIES:]:
        me.recall(question, limit=10)
    pairs = [(seconds(bare.embed, [q]), seconds(me.recall, q, limit=10)) for q in asked[:QUERIES]]
    embeds, takes = zip(*pairs, strict=True)
    return {
        "embed_p50": percentile(embeds, 50),
        "embed_p95": percentile(embeds, 95),
        "p50": percentile(takes, 50),
        "p95": percentile(takes, 95),
        "ratio_p50": percentile(takes, 50) / percentile(embeds, 50),
        "ratio_p95": percentile(takes, 95) / percentile(embeds, 95),
    }


def contexts(me: Memory) -> dict[str, float]:
    """The context block for a prompt."""
    takes = [seconds(me.context, q) for q in questions(50, seed=5)]
    return {"p50": percentile(takes, 50), "p95": percentile(takes, 95)}


def vector_recall(me: Memory) -> float:
    """What share of the exact nearest vectors the index in memory finds."""
    call = me._call
    embedder = LocalEmbedder()
    with call.store.open_reader(call.owner) as reader:
        index = reader.load_index(call.embedder.model)
        shares = []
        for question in questions(10, seed=6):
            query = embedder.embed([question])[0]
            exact = {
                hit.id: hit.score
                for hit in reader.compute_similarities(Embedding(embedder.model, query), index.ids)
            }
            shares.append(_found(index, query, exact))
    return float(np.mean(shares))


def _found(index: Any, query: NDArray[np.float32], exact: dict[str, float]) -> float:
    from remembrancer.search.signals import compute_similarity

    scores = compute_similarity(index, query)
    best = np.argpartition(-scores, NEAREST)[:NEAREST]
    # Sentences are said more than once, so what is as near as the last of the nearest counts too.
    least = sorted(exact.values(), reverse=True)[NEAREST - 1]
    return float(np.mean([exact[index.ids[place]] >= least for place in best]))


def writes(me: Memory, bare: LocalEmbedder) -> dict[str, float]:
    """One memory at a time, without the embedding, which does not grow."""
    texts = [f"Fact {number}: {text}" for number, text in enumerate(sentences(seed=7)[:WRITES])]
    pairs = [(seconds(bare.embed, [t]), seconds(me.remember, t)) for t in texts]
    embeds, takes = zip(*pairs, strict=True)
    return {"remember_p50": percentile(takes, 50), "embed_p50": percentile(embeds, 50)}


def ingest(me: Memory, bare: LocalEmbedder) -> dict[str, float]:
    """Whole conversations, beside the bare embedding of their units, in turns."""
    spent = {"bare": 0.0, "ours": 0.0}
    seed, count = time.time_ns(), 0
    for number, said in enumerate(conversations(INGESTED, seed=seed)):
        texts = [
            unit.text
            for turn in said
            for unit in split_into_units(
                turn["content"], f"{turn['speaker']}: {turn['content']}", by_sentence=True
            )
        ]
        count += len(texts)
        spent["bare"] += seconds(bare.embed, texts)
        spent["ours"] += seconds(me.append, said, session=f"new {seed} {number}")
    return {
        "turns_per_second": INGESTED / spent["ours"],
        "units_per_turn": count / INGESTED,
        "of_bare_embedding": spent["bare"] / spent["ours"],
    }


def seconds(work: Callable[..., object], *arguments: Any, **more: Any) -> float:
    """How long some work takes."""
    started = time.perf_counter()
    work(*arguments, **more)
    return time.perf_counter() - started


def percentile(values: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    return 1000 * statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def resident() -> float:
    """Megabytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def peak() -> float:
    """Megabytes of this process in memory at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
