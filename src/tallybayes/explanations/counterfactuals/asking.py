"""The smallest changes of a record that lead to another answer.

They are looked for where the model's parameters say they must be (a sum of one term a column can be
searched term by term), and every one of them is then put to the model itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tallybayes.batches import batches
from tallybayes.errors import TallyBayesError, did_you_mean, whole
from tallybayes.explanations.counterfactuals.documents import Edit
from tallybayes.explanations.counterfactuals.drafts import Asked, Finding, settled
from tallybayes.explanations.counterfactuals.goal import Goal, judged
from tallybayes.explanations.counterfactuals.pairs import Pairs
from tallybayes.explanations.counterfactuals.results import (
    Change,
    Counterfactual,
    Counterfactuals,
)
from tallybayes.explanations.counterfactuals.singles import singles
from tallybayes.explanations.counterfactuals.space import space_of
from tallybayes.explanations.explanation import IMPOSSIBLE, model_of
from tallybayes.explanations.plain import plain_value
from tallybayes.model import Fitted, Model
from tallybayes.sources import as_source
from tallybayes.sources.labels import Label

ONE_CLASS = "there is only one class"


def counterfactuals(
    subject: Model | Fitted | Any,
    record: Mapping[str, Any],
    to: Label | None = None,
    values: int = 2,
    most: int = 10,
    keep: Iterable[str] = (),
) -> Counterfactuals:
    """Return the smallest changes of one or two values that lead to another answer.

    Each of them was put to the model: the changed record has the other answer. In a pair both
    changes are needed: neither of the two does it alone.

    Parameters
    ----------
    subject
        A model, what it was estimated from, or a fitted estimator.
    record
        A value for each column; columns that it does not have are missing.
    to
        The answer that is wanted; any other one when not given.
    values
        How many values may change at once: 1 or 2.
    most
        How many ways are returned.
    keep
        Columns that cannot change, such as an age.

    Returns
    -------
    Counterfactuals
        At most one for each set of columns (of texts, for each word that is removed): the smallest,
        and of equally small ones the surest. Those of one value come first, then by size, then in
        the order of the columns.

    Notes
    -----
    The size of a change is its distance in standard deviations of the column: of all rows, as the
    model has them (the variances within the classes and between them, weighted by the prior), of
    the logarithm where the column is log-normal, and of Poisson variables where it counts. Any
    other change counts 1: another category or interval, "on" or "off", a word, and a value where
    there was none (of a number its distance from the mean, if that is more; a bag takes a missing
    count for 0). The sizes of two changes are added up.

    Numbers end just beyond the point where the answer changes. That point is exact; the number is
    the shortest decimal beyond it that makes the change at most one per cent larger. Whole numbers
    stay whole: counts, and integers of other columns unless no integer does it alone. A missing
    number is looked for from the mean of its column outwards, and so is another one for a number
    that is more than 10,000 standard deviations away from it. A missing number may become a
    decimal where the rows had integers only: a model of bell curves does not know that.

    A pair is returned only if its number changes by a tenth less than it would have to alone. Two
    numbers change together only if both changes take a tenth less than either alone; how they
    share the change is searched on a grid.

    A value never becomes missing, and a record that no class allows is never proposed. Words are
    removed wherever they stand in the text, and added once.

    Examples
    --------
    >>> from tallybayes import Tally, estimate
    >>> table = {
    ...     "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    ...     "status": ["Single", "Married", "Single", "Married", "Divorced", "Married",
    ...                "Divorced", "Single", "Married", "Single"],
    ...     "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, 90.0],
    ... }
    >>> cheat = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]
    >>> model = estimate(Tally.of(table, cheat, target="cheat"))
    >>> found = counterfactuals(model, {"owner": "No", "status": "Married", "income": 120.0})
    >>> print(found)
    cheat: No (1 - 3.48e-08); what would change it:
      if income were 96.4 instead of 120: Yes (0.5050)
      if status were Divorced instead of Married and income were 101 instead of 120: Yes (0.5028)
    >>> found[0].changes, round(found[0].size, 2)
    ((Change(column='income', before=120.0, after=96.4, how='set'),), 0.51)
    """
    model = model_of(subject)
    if not isinstance(record, Mapping):
        raise TallyBayesError(
            f"a record must be a mapping from columns to values, not {type(record).__name__}; "
            "a row of a pandas table has to_dict()"
        )
    whole(values, "values", 1, 2)
    whole(most, "most", 1)
    schema = model.schema
    kept = _kept(keep)
    for name in (*record, *kept):
        if name != schema.target or name in kept:
            schema.place_of(name)
    source = as_source({name: [record.get(name)] for name in schema.names})
    joint = model.joint_log_likelihood(source)
    (batch,) = batches(source, schema)
    posterior, winners = judged(model, joint)
    now = int(winners[0])
    goal = Goal(model, now, _place(model, to, now))
    notes = [IMPOSSIBLE] if np.isneginf(joint).all() else []
    findings: list[Finding] = []
    if len(model.classes) > 1:
        asked = Asked(goal, record)
        space = space_of(goal, batch, record, joint[0], kept)
        notes += space.notes
        findings = settled(singles(space, goal), most, asked)
        if values > 1 and len(findings) < most:
            pairs = Pairs(space, goal)
            findings += settled(pairs.slots(), most - len(findings), asked)
            notes += pairs.notes
    else:
        notes.append(ONE_CLASS)
    found = tuple(_counterfactual(model, record, finding) for finding in findings)
    answer, probability = model.classes[now], float(posterior[0, now])
    return Counterfactuals(schema.target, answer, probability, to, values, found, tuple(notes))


def _kept(keep: Any) -> tuple[str, ...]:
    """Return the columns that cannot change."""
    if isinstance(keep, str) or not hasattr(keep, "__iter__"):
        raise TallyBayesError(f"keep is {keep!r}; give a list of columns, such as ['age']")
    return tuple(keep)


def _place(model: Model, to: Label | None, now: int) -> int | None:
    """Return the place of the class that is wanted."""
    if to is None:
        return None
    if to not in model.classes:
        raise TallyBayesError(f"{to!r} is not a class; {did_you_mean(to, model.classes)}")
    place = model.classes.index(to)
    if place == now:
        raise TallyBayesError(
            f"the answer is {to!r} already; name another class, or none for any other answer"
        )
    return place


def _counterfactual(model: Model, record: Mapping[str, Any], finding: Finding) -> Counterfactual:
    """Say what was found in terms of the record."""
    changed, changes = dict(record), []
    for column, value in finding.draft.changes:
        name = str(model.schema.names[column])
        if isinstance(value, Edit):
            added = value.how == "added"
            before, after = (None, value.word) if added else (value.word, None)
            changes.append(Change(name, before, after, value.how))
            changed[name] = value.text
        else:
            changes.append(Change(name, plain_value(record.get(name)), value))
            changed[name] = value
    return Counterfactual(
        tuple(changes),
        model.classes[finding.winner],
        finding.probability,
        finding.draft.size,
        changed,
    )
