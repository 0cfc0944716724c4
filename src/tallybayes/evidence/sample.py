"""Evidence weighed on a sample: what is counted of all rows is settled by some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.batches import encode_classes
from tallybayes.evidence.search import WeighedEvidence, weigh_evidence
from tallybayes.model.plans import CountPlan, source_of
from tallybayes.model.specification import ColumnSpec, ModelSpec


def weigh_sample(
    table: Any, plan: CountPlan, spec: ModelSpec, columns: ColumnSpec
) -> WeighedEvidence:
    """Find views and joints of the columns of an Arrow table, and weigh them.

    Parameters
    ----------
    table
        The rows, of which each has a label.
    plan, spec, columns
        How rows are counted, and what is asked for: see `plan_counting`.
    """
    recipe, weights = spec.recipe(plan.schema, columns), plan.weights(table)
    labels = encode_classes(plan.labels(table), table.num_rows)
    y = np.array(labels.labels)[labels.codes]
    source = source_of(table, plan.schema)
    return weigh_evidence(source, y, weights, plan.schema, recipe, spec.joints)
