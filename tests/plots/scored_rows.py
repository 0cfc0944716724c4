"""Rows with scores and labels for the pictures of predictions, and the lecture's loans."""

import numpy as np

import tallybayes as tb

LOAN = {
    "refund": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    "status": ["S", "M", "S", "M", "D", "M", "D", "S", "M", "S"],
    "income": [125.0, 100, 70, 120, 95, 60, 220, 85, 75, 90],
}
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]


def loan(**options):
    return tb.NaiveBayes(**options).fit(LOAN, CHEAT)


def two_classes(n=200, seed=0, digits=2):
    """Labels "no" and "yes", and probabilities of both with ties."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "yes", "no")
    y[:2] = "no", "yes"
    p = (1 / (1 + np.exp(-rng.normal(2.0 * (y == "yes") - 1.0, 1.5)))).round(digits)
    return y, np.c_[1 - p, p]


def many_classes(k, n=300, seed=0, labels=None, digits=2):
    """Labels and a probability for each; every class occurs."""
    rng = np.random.default_rng(seed)
    labels = [f"class {c:02}" for c in range(k)] if labels is None else labels
    true = np.r_[np.arange(k), rng.choice(k, n - k, p=rng.dirichlet(np.full(k, 3.0)))]
    scores = rng.random((n, k))
    scores[np.arange(n), true] += 0.4
    scores = (scores / scores.sum(1, keepdims=True)).round(digits)
    scores[:, -1] = abs(1.0 - scores[:, :-1].sum(1))
    scores /= scores.sum(1, keepdims=True)
    return np.array(labels, object)[true], scores, labels


def weights_of(n, seed=0):
    return np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], n)


def texts(display):
    """All text in a picture, as drawn."""
    from matplotlib.text import Text

    return [each.get_text() for each in display.figure_.findobj(Text) if each.get_text()]


def drawn(display):
    """Draw everything, so that text that cannot be set would raise."""
    display.figure_.canvas.draw()
    return display
