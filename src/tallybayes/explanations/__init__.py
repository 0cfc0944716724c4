"""Why a record gets its answer: what each value says for and against each class."""

from tallybayes.explanations.contrast import Contrast, Evidence
from tallybayes.explanations.contribution import Contribution
from tallybayes.explanations.explanation import Explanation, explain
from tallybayes.explanations.many import Explanations, explain_all

__all__ = [
    "Contrast",
    "Contribution",
    "Evidence",
    "Explanation",
    "Explanations",
    "explain",
    "explain_all",
]
