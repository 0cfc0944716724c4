"""Everything that can be changed about one record, and what each column adds to its score."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.batches import Batch, Coded
from tallybayes.explanations.counterfactuals import options
from tallybayes.explanations.counterfactuals.documents import Edits, edits_of
from tallybayes.explanations.counterfactuals.goal import Goal
from tallybayes.explanations.counterfactuals.options import Lines, Moves
from tallybayes.families import (
    BernoulliParameters,
    BinsParameters,
    CategoricalParameters,
    MultinomialParameters,
    NormalParameters,
    PoissonParameters,
    TextParameters,
)
from tallybayes.tokenizer import Documents

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The ways in which a record can change.

    `logs` are the log-likelihoods of its columns (down) in the classes (across), `texts` those
    columns that hold words.
    """

    prior: Floats
    logs: Floats
    moves: Moves
    lines: Lines
    texts: Mapping[int, tuple[TextParameters, Edits]]
    notes: tuple[str, ...]

    def rests(self) -> Floats:
        """Return the scores without each column in turn."""
        n = len(self.logs)
        before, after = np.zeros((n + 1, len(self.prior))), np.zeros((n + 1, len(self.prior)))
        before[1:] = np.cumsum(self.logs, axis=0)
        after[:-1] = np.cumsum(self.logs[::-1], axis=0)[::-1]
        return self.prior + before[:-1] + after[1:]


def space_of(
    goal: Goal, batch: Batch, record: Mapping[str, Any], joint: Floats, keep: Collection[str]
) -> Space:
    """Find out what can be changed; the batch holds the record, `joint` its scores."""
    model = goal.model
    schema, n_classes = model.schema, len(model.classes)
    logs = np.zeros((len(schema.names), n_classes))
    moves: list[Moves] = []
    lines: list[Lines] = []
    texts: dict[int, tuple[TextParameters, Edits]] = {}
    kept = np.array([name in keep for name in schema.names], bool)
    for factor in model.factors:
        group = schema.groups[factor.group]
        places = factor.places
        columns = [group.columns(place)[0] for place in places]
        block, scored = factor.block_of(batch), factor.scored
        logs[columns] = scored.log_prob(block)[0]
        raw = options.raw_values(record, [schema.names[column] for column in columns])
        if isinstance(scored, TextParameters):
            assert isinstance(block, Documents)
            (column,) = columns
            if not kept[column] and len(scored.terms):
                text = block.strings()[0]
                edits = edits_of(scored, schema.names[column], text, joint, goal)
                texts[column] = scored, edits
                moves.append(Moves.of(column, edits.edits, edits.logs))
        elif isinstance(scored, BinsParameters):
            assert isinstance(block, Coded)
            moves += options.values_of_bins(scored, block, columns, raw)
        elif isinstance(scored, CategoricalParameters):
            moves += options.values_of_tables(scored, columns)
        elif isinstance(scored, BernoulliParameters):
            moves += options.values_of_switches(scored, options.numbers_of(block), columns, raw)
        elif isinstance(scored, NormalParameters):
            numbers = options.numbers_of(block)
            lines.append(options.lines_of_normals(scored, numbers, columns, raw, model.prior))
        else:
            assert isinstance(scored, MultinomialParameters | PoissonParameters)
            numbers = options.numbers_of(block)
            lines.append(options.lines_of_counts(scored, numbers, columns, model.prior))
    all_moves = Moves.joined(moves, n_classes)
    # the present value changes nothing, nor does another one that says the same
    telling = (all_moves.logs != logs[all_moves.columns]).any(axis=1)
    all_lines = Lines.joined(lines, n_classes)
    notes = tuple(note for _, edits in texts.values() for note in edits.notes)
    return Space(
        model.log_prior,
        logs,
        all_moves.where(telling & ~kept[all_moves.columns]),
        all_lines.keep(~kept[all_lines.column]),
        texts,
        notes,
    )
