"""tallybayes on the workloads."""

from __future__ import annotations

from typing import Any

import tallybayes as tb
from benchmarks.workloads import Workload

FAMILIES: dict[str, Any] = {
    "gaussian": tb.Gaussian(),
    "categorical": tb.Categorical(),
    "bernoulli": tb.Bernoulli(),
    "multinomial": tb.Multinomial(),
}


class Ours:
    """Fitting is `Tally.of`, labels and checks included; scoring is the joint log-likelihood."""

    def __init__(self, work: Workload) -> None:
        self.work = work
        self.schema = tb.Schema.same(tb.Schema.infer(work.X[:1]).names, FAMILIES[work.kind].kind)
        self.model = tb.estimate(self.fit())

    def fit(self) -> tb.Tally:
        return tb.Tally.of(self.work.X, self.work.y, self.work.weights, schema=self.schema)

    def score(self) -> Any:
        return self.model.joint_log_likelihood(self.work.X)
