"""Weighted evidence: views of columns, a few of them together, and a weight for each."""

from tallybayes.evidence.search import Joints, Views, WeighedEvidence, weigh_evidence
from tallybayes.evidence.weights import EvidenceProblem, EvidenceWeights

__all__ = [
    "EvidenceProblem",
    "EvidenceWeights",
    "Joints",
    "Views",
    "WeighedEvidence",
    "weigh_evidence",
]
