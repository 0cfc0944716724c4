"""Why a record gets its answer: what each value says, the arithmetic, and what would change it."""

from tallybayes.explanations.counterfactuals import (
    Change,
    Counterfactual,
    Counterfactuals,
    counterfactuals,
)
from tallybayes.explanations.explanation import Contrast, Evidence, Explanation, Term, explain
from tallybayes.explanations.many import Explanations, explain_all
from tallybayes.explanations.working import Working

__all__ = [
    "Change", "Contrast", "Counterfactual", "Counterfactuals", "Evidence", "Explanation",
    "Explanations", "Term", "Working", "counterfactuals", "explain", "explain_all",
]  # fmt: skip
