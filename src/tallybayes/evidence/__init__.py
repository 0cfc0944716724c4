"""Weighted evidence: views of columns, a few of them together, and a weight for each; diagnosis."""

from tallybayes.evidence.diagnosis import Diagnosis, diagnose
from tallybayes.evidence.sample import weigh_sample
from tallybayes.evidence.search import Joints, Views, WeighedEvidence, weigh_evidence
from tallybayes.evidence.weights import EvidenceProblem, EvidenceWeights

__all__ = [
    "Diagnosis",
    "EvidenceProblem",
    "EvidenceWeights",
    "Joints",
    "Views",
    "WeighedEvidence",
    "diagnose",
    "weigh_evidence",
    "weigh_sample",
]
