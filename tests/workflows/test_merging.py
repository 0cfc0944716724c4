"""Models that are merged are the model of all their rows, missing where a column was absent."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import dump_bytes
from tallybayes.workflows import changing
from tallybayes.workflows.training import train
from workflows.mixed import assert_same_tally, features, mixed

FRAME = mixed(180, seed=11)
PARTS = [FRAME.iloc[:50], FRAME.iloc[50:110], FRAME.iloc[110:]]
NAMES = ["a.tally", "b.tally", "c.tally"]
COLUMNS = {"age": "gaussian", "rooms": "categorical", "on": "bernoulli", "visits": "poisson",
           "calls": tb.Multinomial(bag="c"), "times": "categorical", "mail": "text"}  # fmt: skip


def merge(*args):
    return changing.merge(*args).stored


def fitted(frame, columns=COLUMNS, **options):
    """Train a model on rows that have some of the columns."""
    some = {name: word for name, word in columns.items() if name in frame}
    return train(frame, "label", ModelSpec(columns=some, **options), scores=False).stored


def test_merged_models_are_the_model_of_all_rows():
    merged = merge([fitted(part) for part in PARTS], NAMES)
    wanted = fitted(FRAME)
    assert_same_tally(merged.fitted.tally, wanted.fitted.tally)
    X = features(FRAME)
    np.testing.assert_allclose(
        merged.fitted.model.posterior(X), wanted.fitted.model.posterior(X), rtol=1e-10
    )


def test_columns_that_only_some_have_were_missing_in_the_others():
    some = [PARTS[0].drop(columns=["income", "mail"]), PARTS[1].drop(columns="status"), PARTS[2]]
    merged = merge([fitted(part) for part in some], NAMES)
    together = pd.concat(some)  # with gaps
    model = tb.NaiveBayes(COLUMNS).fit(features(together), together["label"])
    names = merged.fitted.tally.schema.names
    assert set(names) == set(features(FRAME).columns)
    found = merged.fitted.model.posterior(FRAME[list(names)])
    np.testing.assert_allclose(found, model.predict_proba(features(FRAME)), rtol=1e-10)
    assert merged.fitted.tally.rows.tolist() == model.tally_.rows.tolist()


def test_classes_that_only_some_have_are_all_there():
    some = [PARTS[0][PARTS[0]["label"] != "so"], PARTS[1][PARTS[1]["label"] != "no"]]
    merged = merge([fitted(part) for part in some], NAMES[:2])
    assert merged.fitted.classes == ("no", "so", "yes")
    assert_same_tally(merged.fitted.tally, fitted(pd.concat(some)).fitted.tally)


def test_declared_values_are_those_of_both():
    def declared(part, *values):
        columns = {**COLUMNS, "status": tb.Categories(values)}
        return fitted(part, columns, unseen="smooth")

    merged = merge([declared(PARTS[0], "Widowed"), declared(PARTS[1], "Other")], NAMES[:2])
    wanted = declared(pd.concat(PARTS[:2]), "Widowed", "Other")
    assert set(merged.fitted.tally.schema.declared["status"]) == {"Widowed", "Other"}
    new = features(FRAME).head(20).assign(status="Never seen")
    np.testing.assert_allclose(
        merged.fitted.model.posterior(new), wanted.fitted.model.posterior(new), rtol=1e-10
    )


def test_the_order_does_not_matter():
    models = dict(zip(NAMES, map(fitted, PARTS), strict=True))
    X = features(FRAME)
    tallies, answers = [], []
    for order in permutations(NAMES):
        merged = merge([models[name] for name in order], list(order))
        tallies.append(merged.fitted.tally)
        answers.append(merged.fitted.model.posterior(X))
    for tally, answer in zip(tallies, answers, strict=True):
        assert_same_tally(tally, tallies[0])
        np.testing.assert_allclose(answer, answers[0], rtol=1e-10)


def test_smoothing_and_prior_are_those_of_the_first():
    first = fitted(PARTS[0], alpha=0.1, prior="uniform", positive="yes")
    merged = merge([first, fitted(PARTS[1], alpha=5.0)], NAMES[:2])
    wanted = fitted(pd.concat(PARTS[:2]), alpha=0.1, prior="uniform", positive="yes")
    assert merged.fitted.recipe.positive == "yes"
    X = features(FRAME)
    np.testing.assert_allclose(
        merged.fitted.model.posterior(X), wanted.fitted.model.posterior(X), rtol=1e-10
    )


def test_the_family_of_a_column_that_only_the_other_has_goes_with_it():
    less = PARTS[0].drop(columns="age")
    columns = {**COLUMNS, "age": tb.Gaussian(ddof=0)}
    merged = merge([fitted(less), fitted(PARTS[1], columns)], NAMES[:2])
    assert merged.fitted.recipe.columns["age"] == tb.Gaussian(ddof=0)


def test_a_side_without_values_leaves_it_to_the_other_what_a_column_is():
    empty = PARTS[0].assign(income=None)
    for models in ([fitted(empty), fitted(PARTS[1])], [fitted(PARTS[1]), fitted(empty)]):
        merged = merge(models, NAMES[:2])
        assert merged.fitted.tally.schema.kind("income") == tb.Numeric()
        assert merged.fitted.tally.rows.sum() == 110


def test_classes_that_were_announced_on_either_side_stay_so():
    models = [fitted(PARTS[0], positive="yes"), fitted(PARTS[1], positive="no")]
    assert merge(models, NAMES[:2]).fitted.recipe.declared_classes == ("no", "yes")


def test_models_are_not_changed_by_merging():
    models = [fitted(part) for part in PARTS]
    before = [dump_bytes(model) for model in models]
    merge(models, NAMES)
    assert [dump_bytes(model) for model in models] == before


def test_the_history_says_what_was_merged():
    merged = merge([fitted(part) for part in PARTS], NAMES)
    assert merged.provenance.history == (
        "fit a table: 50 rows", "merge b.tally: 60 rows", "merge c.tally: 70 rows",
    )  # fmt: skip
    assert merged.provenance.rows == 180
    assert merged.provenance.sources == ("a table", "b.tally", "c.tally")


def test_one_model_is_itself():
    model = fitted(PARTS[0])
    assert merge([model], NAMES[:1]) is model


class TestRefusals:
    """What does not go together names the file and the column."""

    def test_another_target(self):
        other = train(PARTS[1].rename(columns={"label": "y"}), "y", scores=False).stored
        with pytest.raises(
            tb.TallyBayesError, match=r"b\.tally cannot be merged with a\.tally: .*'label'.*'y'"
        ):
            merge([fitted(PARTS[0]), other], NAMES[:2])

    def test_another_kind_of_a_column(self):
        other = fitted(PARTS[1], {**COLUMNS, "age": tb.Bins((40,))})
        with pytest.raises(
            tb.TallyBayesError, match=r"c\.tally cannot be merged .*column 'age' is Numeric\(\)"
        ):
            merge([fitted(PARTS[0]), fitted(PARTS[2]), other], ["a.tally", "b.tally", "c.tally"])

    def test_other_edges(self):
        models = [fitted(PARTS[0], {**COLUMNS, "age": tb.Bins((edge,))}) for edge in (40, 50)]
        with pytest.raises(tb.TallyBayesError, match=r"column 'age' .* state the same edges"):
            merge(models, NAMES[:2])

    def test_other_ways_to_count_words(self):
        models = [
            fitted(PARTS[0], {**COLUMNS, "mail": tb.Text(tb.Words(ngrams=(1, n)))}) for n in (1, 2)
        ]
        with pytest.raises(tb.TallyBayesError, match=r"b\.tally .*column 'mail' .*same options"):
            merge(models, NAMES[:2])

    def test_labels_of_another_type(self):
        other = fitted(PARTS[1].assign(label=[1, 2] * 30))
        with pytest.raises(tb.TallyBayesError, match=r"b\.tally cannot be merged with a\.tally"):
            merge([fitted(PARTS[0]), other], NAMES[:2])

    def test_values_of_another_type(self):
        other = fitted(PARTS[1].assign(status=[1, 2] * 30), {**COLUMNS, "status": "categorical"})
        with pytest.raises(tb.TallyBayesError, match=r"b\.tally .*'status'"):
            merge([fitted(PARTS[0]), other], NAMES[:2])

    def test_a_class_without_a_prior(self):
        first = fitted(PARTS[0], prior={"no": 0.2, "so": 0.3, "yes": 0.5})
        other = fitted(PARTS[1].assign(label=["no", "new"] * 30))
        with pytest.raises(tb.TallyBayesError, match="no prior is stated for class 'new'"):
            merge([first, other], NAMES[:2])
