"""Weighted evidence: views of columns, a few of them together, and a weight for each."""

from tallybayes.evidence.search import WeighedEvidence, Joints, weigh_evidence
from tallybayes.evidence.weights import EvidenceProblem, EvidenceWeights

__all__ = ["WeighedEvidence", "EvidenceProblem", "EvidenceWeights", "Joints", "weigh_evidence"]
