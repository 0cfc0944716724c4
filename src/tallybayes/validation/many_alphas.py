"""Leave-one-out log-losses of many smoothing values from one pass over the words.

Works for a single bag of whole counts (a dense or sparse matrix, or text) under the multinomial or
boolean model. Everything else takes a pass for each value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.families import Multinomial, Text
from tallybayes.families.left_out import LeaveOneOutTask, left_out
from tallybayes.families.left_out.counts import as_sparse
from tallybayes.families.left_out.words import LeftDocuments
from tallybayes.kernels.leaving_out import row_sums
from tallybayes.kernels.threads import over_rows
from tallybayes.model.estimation import Share, shares
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Recipe

Array = NDArray[Any]
Floats = NDArray[np.float64]

FEWEST = 3  # values for which it pays
EXACT = 1e-12
MOST_LOSS = -math.log(1e-15)  # where losses are clipped
MOST_COUNT = 2_000_000
LACKING = 64  # words that may be lacking for a logarithm to be looked up
WORTH_COMPILING = 1_000_000  # entries times values


class Words(NamedTuple):
    """Bags as compressed sparse rows, with what is known of each row without it.

    `counts` are by class and word; `totals` by row and class, the row itself still in them.
    """

    indptr: Array
    indices: Array
    data: Array
    counts: Floats
    totals: Floats
    n_words: Floats
    lengths: Floats
    most_words: float


def losses_of(rows: LeaveOneOut, recipes: Sequence[Recipe]) -> Floats | None:
    """Return the mean leave-one-out log-loss of each recipe, if they differ only in alpha.

    None if they do not, if there are few, or if there is little to do. Losses are clipped as by
    `log_loss`.
    """
    if len(recipes) < FEWEST or rows.data.w is not None or (rows.tally.rows < 2).any():
        return None
    found = [_only_share(rows, recipe) for recipe in recipes]
    first = found[0]
    if first is None:
        return None
    alphas = []
    for share, recipe in zip(found, recipes, strict=True):
        if share is None or recipe.prior != recipes[0].prior or recipe.calibration is not None:
            return None
        alpha = share.family.alpha  # type: ignore[attr-defined]
        if not isinstance(alpha, float) or alpha <= 0.0:
            return None
        if _plain(share.family) != _plain(first.family):
            return None
        alphas.append(float(alpha))
    words = _words(rows, first)
    if words is None or len(words.data) * len(alphas) < WORTH_COMPILING:
        return None
    return _losses(words, rows, recipes[0], np.array(alphas))


def _only_share(rows: LeaveOneOut, recipe: Recipe) -> Share | None:
    """Return what the recipe's one family estimates, if it is a bag of words."""
    found = list(shares(rows.tally, recipe.families, recipe.columns))
    return found[0] if len(found) == 1 and isinstance(found[0].family, Multinomial | Text) else None


def _plain(family: Any) -> Any:
    """Return the family with an alpha of 1."""
    return replace(family, alpha=1.0)


def _words(rows: LeaveOneOut, share: Share) -> Words | None:
    """Return the bags; None if they hold fractions, or have no closed form."""
    family, block = share.family, rows.data.blocks[share.group]
    leaving = LeaveOneOutTask(share.block, share.facts, None, block, rows.of)
    found: Words
    if isinstance(family, Text):
        if family.event not in ("multinomial", "boolean") or left_out(family, leaving) is None:
            return None
        held = LeftDocuments(family, leaving)
        totals = held.totals(held.counts)
        counts = held.counts
        found = Words(*held.kept, counts, totals, held.n_words, held.lengths, float(held.used[2]))
    else:
        stored = as_sparse(block)
        counts = share.block.sums  # type: ignore[attr-defined]
        totals = np.repeat(counts.sum(axis=1)[None], len(rows.y), axis=0)
        n_words = np.full(len(rows.y), float(counts.shape[1]))
        lengths = row_sums(stored.indptr, stored.data)
        found = Words(*stored[:3], counts, totals, n_words, lengths, float(counts.shape[1]))
    data = found.data
    whole = (data == np.rint(data)).all() and (counts == np.rint(counts)).all()
    if not whole or counts.max(initial=0.0) > MOST_COUNT or (found.n_words < 0.5).any():
        return None
    return found


def _losses(words: Words, rows: LeaveOneOut, recipe: Recipe, alphas: Floats) -> Floats | None:
    from tallybayes.kernels.compiled_alphas import alpha_losses

    y, n_alphas = rows.y, len(alphas)
    table = _table(int(words.counts.max(initial=0.0)), alphas)
    if table is None:
        return None
    basis, mix = table
    by_word = np.ascontiguousarray(words.counts.T).astype(np.int32)
    data = words.data.astype(np.int32)
    # rows of a class have the same prior without them
    place = np.array([int(np.argmax(y == c)) for c in range(len(rows.tally.classes))])
    log_prior = rows.log_prior(recipe.prior)[place]
    totals = words.totals.copy()
    totals[np.arange(len(y)), y] -= words.lengths
    usual = np.median(words.totals, axis=0) if len(y) else np.zeros(len(place))
    lacking = words.most_words - np.arange(LACKING)[:, None, None]
    logs = np.log(np.maximum(usual[None, :, None] + alphas * lacking, 1e-300))

    def work(some: slice) -> Floats:
        losses = np.zeros(n_alphas)
        alpha_losses(
            words.indptr[some.start : some.stop + 1],
            words.indices,
            data,
            y[some],
            by_word,
            basis,
            mix,
            log_prior,
            totals[some],
            words.n_words[some],
            words.lengths[some],
            alphas,
            usual,
            words.most_words,
            logs,
            MOST_LOSS,
            losses,
        )
        return losses

    parts = over_rows(work, len(y), len(data) * len(place))
    total: Floats = np.sum(parts, axis=0) / len(y)
    return total


def _table(largest: int, alphas: Floats) -> tuple[Floats, Floats] | None:
    """Return two factors whose product is log(n + alpha) by n and alpha; None if that is not exact.

    The functions of alpha are the leading singular vectors of some rows of the table: 16 of them
    are exact to 1e-13 for alphas from 1e-3 to 10.
    """
    from tallybayes.kernels.compiled_alphas import RANK

    n = np.arange(largest + 1.0)[:, None]
    logs = np.log(n + alphas)
    spread = np.geomspace(1.0, max(largest, 1), 120).astype(np.int64)
    some = np.unique(np.concatenate([np.arange(min(largest, 40) + 1), spread]))
    _, _, vectors = np.linalg.svd(logs[some[some <= largest]], full_matrices=False)
    mix = np.zeros((RANK, len(alphas)))
    mix[: len(vectors)] = vectors[:RANK]
    basis = np.ascontiguousarray(logs @ mix.T)
    if np.abs(basis @ mix - logs).max() > EXACT:
        return None
    return basis, mix
