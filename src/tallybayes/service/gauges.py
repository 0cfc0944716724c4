"""What Prometheus is told, by any of the processes about all of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

if TYPE_CHECKING:
    from tallybayes.service.follower import Follower
    from tallybayes.service.shelf import Shelf

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

    def response(self, shelf: Shelf, follower: Follower) -> Response:
        """Return all of it, of all processes, as Prometheus reads it."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_LATEST
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = self.registry
        if SHARED in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        models = CollectorRegistry()
        models.register(_Models(shelf, follower))
        both = generate_latest(registry) + generate_latest(models)
        return Response(both, media_type=CONTENT_TYPE_LATEST)


class _Models:
    """What this process knows of the models, as all others do within a second."""

    def __init__(self, shelf: Shelf, follower: Follower) -> None:
        self.shelf, self.follower = shelf, follower

    def collect(self) -> Iterator[Any]:
        """Go through the gauges."""
        from prometheus_client.core import GaugeMetricFamily

        learning = GaugeMetricFamily("tallybayes_learning", "Whether events can be learnt.")
        learning.add_metric([], float(self.follower.why_not is None))
        yield learning
        families = {
            name: GaugeMetricFamily(f"tallybayes_{name}", about, labels=["model", *labels])
            for name, about, *labels in (
                ("rows", "Rows that are counted.", "class"),
                ("position", "The last event of the log that was applied."),
                ("log_loss", "Log-loss of events before they were learnt.", "recipe", "of"),
                ("accuracy", "Share of events that were right before.", "recipe", "of"),
                ("drift_alarms", "Windows of events that were unlike those before."),
            )
        }
        for shelved in self.shelf.all_open():
            name, tally = shelved.name, shelved.fitted.tally
            for label, rows in zip(tally.classes, tally.rows.tolist(), strict=True):
                families["rows"].add_metric([name, str(label)], rows)
            if (state := shelved.state) is None:
                continue
            families["position"].add_metric([name], state.position)
            families["drift_alarms"].add_metric([name], len(state.drift.alarms))
            for recipe, standing in state.standings.items():
                for of, scores in (("all", standing.total), ("recent", standing.recent)):
                    families["log_loss"].add_metric([name, recipe, of], scores.log_loss)
                    families["accuracy"].add_metric([name, recipe, of], scores.accuracy)
        yield from families.values()
