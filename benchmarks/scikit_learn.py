"""scikit-learn on the workloads."""

from __future__ import annotations

from typing import Any

from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.workloads import Workload

ESTIMATORS = {
    "gaussian": GaussianNB,
    "categorical": CategoricalNB,
    "bernoulli": BernoulliNB,
    "multinomial": MultinomialNB,
}


class ScikitLearn:
    """Fitting is `fit`; scoring is `predict_joint_log_proba`."""

    def __init__(self, work: Workload) -> None:
        self.work = work
        self.estimator = ESTIMATORS[work.kind]()
        self.fit()

    def fit(self) -> Any:
        return self.estimator.fit(self.work.X, self.work.y, sample_weight=self.work.weights)

    def score(self) -> Any:
        return self.estimator.predict_joint_log_proba(self.work.X)
