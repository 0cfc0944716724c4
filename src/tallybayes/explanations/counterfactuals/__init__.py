"""What would change the answer: the smallest changes of one or two values that do."""

from tallybayes.explanations.counterfactuals.asking import counterfactuals
from tallybayes.explanations.counterfactuals.results import (
    Change,
    Counterfactual,
    Counterfactuals,
)

__all__ = ["Change", "Counterfactual", "Counterfactuals", "counterfactuals"]
