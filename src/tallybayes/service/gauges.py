"""What Prometheus is told, by any of the processes about all of them."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from starlette.responses import Response

SHARED = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0


def share() -> tempfile.TemporaryDirectory[str]:
    """Have the processes that are started now count together, in a folder that is returned."""
    folder = tempfile.TemporaryDirectory(prefix="tallybayes-")
    os.environ[SHARED] = folder.name
    return folder


class Gauges:
    """The counters of a process."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram

        self.registry = CollectorRegistry()
        more: Any = {"registry": self.registry}
        self.requests = Counter(
            "tallybayes_requests", "Requests answered.", ("endpoint", "method", "status"), **more
        )
        self.seconds = Histogram(
            "tallybayes_request_seconds",
            "Seconds from a request's headers to the end of its answer.",
            ("endpoint", "method"),
            buckets=SECONDS,
            **more,
        )
        self.records = Counter(
            "tallybayes_records", "Records scored, learnt or forgotten.", ("model", "what"), **more
        )
        self._answered: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._counted: dict[tuple[str, str], Counter] = {}

    def answered(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        key = endpoint, method, status
        if (both := self._answered.get(key)) is None:
            both = self.requests.labels(*map(str, key)), self.seconds.labels(endpoint, method)
            self._answered[key] = both
        both[0].inc()
        both[1].observe(seconds)

    def counted(self, model: str, what: str, n: int) -> None:
        """Count records of a model."""
        if (counter := self._counted.get((model, what))) is None:
            counter = self._counted[model, what] = self.records.labels(model, what)
        counter.inc(n)

    def response(self) -> Response:
        """Return all of it, of all processes, as Prometheus reads it."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_LATEST
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = self.registry
        if SHARED in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
