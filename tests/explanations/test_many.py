"""Many records explained at once: the same numbers as one by one, for every family."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tallybayes as tb
from explanations.cases import CALIBRATIONS, fitted, with_gaps
from tallybayes.explanations import explain, explain_all, many
from tallybayes.kernels import choice


def table_of(case, setting, n, seed):
    """Records of a setting, some values missing, and the table they make."""
    examples = enumerate(setting.examples(n, seed=seed))
    records = [with_gaps(case.record(cells), k) for k, (_, _, cells) in examples]
    return records, {name: [record[name] for record in records] for name in records[0]}


@pytest.mark.filterwarnings("ignore:row . is impossible")
def test_each_record_is_explained_as_on_its_own(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(12), how, positive="a")
        records, table = table_of(case, setting, 7, seed=4)
        found = explain_all(case.model, table)
        assert found.terms.shape == (7, len(found.names), len(found.classes))
        for k, record in enumerate(records):
            one = explain(case.model, record)
            parts = [each.log_likelihood for each in one.terms]
            np.testing.assert_allclose(found.terms[k], parts, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found.joint[k], one.joint, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found.posterior[k], one.posterior, rtol=1e-9, atol=1e-12)
            assert found.decisions[k] == one.decision
            assert str(found[k]) == str(one)
            if one.runner_up is not None:
                by_column = dict.fromkeys(found.names, 0.0)
                for each in one.against().evidence:
                    by_column[each.term.column] += each.bits
                np.testing.assert_allclose(
                    found.evidence()[k], list(by_column.values()), rtol=1e-9, atol=1e-9
                )


@pytest.mark.filterwarnings("ignore:row . is impossible")
def test_compiled_loops_give_the_same(setting, monkeypatch):
    case = fitted(setting, setting.examples(12), "temperature")
    _, table = table_of(case, setting, 9, seed=5)
    plain = explain_all(case.model, table).terms
    monkeypatch.setattr(choice, "LARGE", 0)
    np.testing.assert_allclose(explain_all(case.model, table).terms, plain, rtol=1e-9, atol=1e-9)


def loans():
    table = pd.DataFrame(
        {"income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0], "owner": list("yynnny")}
    )
    return tb.NaiveBayes().fit(table, list("aabbcc")), table


def test_the_strongest_columns_come_first():
    model, table = loans()
    found = model.explain_all(table)
    strength = np.abs(found.evidence("a", "b"))
    for row, names in zip(strength, found.strongest(2, "a", "b"), strict=True):
        assert list(names) == [found.names[j] for j in sorted(range(2), key=lambda j: -row[j])]
    assert found.strongest(1).shape == (6, 1)


def test_sparse_matrices_are_explained_as_dense_ones():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (30, 4)), rng.integers(0, 2, 30)
    dense = tb.MultinomialNB().fit(X, y).explain_all(X).terms
    thin = tb.MultinomialNB().fit(sparse.csr_array(X), y).explain_all(sparse.csr_array(X))
    np.testing.assert_allclose(thin.terms, dense, rtol=1e-12)
    assert thin[3].decision == thin.decisions[3]


def test_each_one_can_be_gone_through_and_counted_from_the_end():
    model, table = loans()
    found = model.explain_all(table)
    assert [each.decision for each in found] == found.decisions.tolist()
    assert found[-1].decision == found.decisions[-1]
    with pytest.raises(IndexError, match="no record 6; there are 6"):
        found[6]
    with pytest.raises(TypeError, match="slice"):
        found[1:3]


def test_impossible_values_say_nothing_of_two_classes_and_everything_of_one():
    table = {"x": ["u", "u", "v", "w"]}
    model = tb.NaiveBayes(alpha=0).fit(table, ["a", "a", "b", "c"])
    bits = model.explain_all({"x": ["u", "v", "w"]}).evidence("a", "b")[:, 0]
    assert bits[0] == np.inf
    assert bits[1] == -np.inf
    assert np.isnan(bits[2])
    assert model.explain_all({"x": ["w"]}).strongest(1, "a", "b").tolist() == [["x"]]


def test_what_makes_no_sense_is_refused():
    model, table = loans()
    found = model.explain_all(table)
    single = tb.NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "a"]).explain_all({"x": [1.0]})
    for message, asked in (
        ("'d' is not a class; ", lambda: found.evidence("d")),
        ("two different classes", lambda: found.evidence("a", "a")),
        ("n is 0; it must be", lambda: found.strongest(0)),
        ("one class only", single.evidence),
    ):
        with pytest.raises(tb.TallyBayesError, match=message):
            asked()


def test_more_numbers_than_memory_holds_are_refused_before_they_are_made(monkeypatch):
    model, table = loans()
    monkeypatch.setattr(many, "MOST_NUMBERS", 35)
    with pytest.raises(tb.TallyBayesError, match="6 records of 2 columns and 3 classes takes"):
        model.explain_all(table)
