"""Columns and targets that are probably not what they are taken for: the same words everywhere."""

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.cli.main import main
from tallybayes.evidence import EvidenceProblem, search
from tallybayes.model.doubts import doubts
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.labels import FEWEST_ROWS, MANY_NUMBERS, MOST_NUMBERS
from tallybayes.workflows import predict, preview, train

DRAW = np.random.default_rng(0)
N = 400
Y = np.where(DRAW.random(N) < 0.5, "no", "yes")
WORDS = np.array(["please", "send", "money", "now", "meeting", "moved", "to", "noon"])
NUMBERS = {
    "1 to n": np.arange(1, N + 1),
    "shuffled": DRAW.permutation(N) + 10_000,
    "a part of the rows": np.sort(DRAW.choice(3 * N, N, replace=False)),
}
NAMES = [f"C{k:05}" for k in DRAW.permutation(N)]
TEXTS = [" ".join(DRAW.choice(WORDS, 6)) for _ in range(N)]
AGES = DRAW.integers(18, 90, N)


def said(table, y=Y, model=None):
    """Return what is said of a table in Python: by fit, and the same by summary and diagnose."""
    model = tb.NaiveBayes() if model is None else model
    with pytest.warns(tb.TallyBayesWarning) as caught:
        model.fit(table, y)
    (text,) = [each for each in (str(w.message) for w in caught) if each.startswith("column")]
    assert f"warning: {text}" in model.summary()
    assert text in model.diagnose(table, y).warnings
    return text


@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["columns", "pandas"])
@pytest.mark.parametrize("model", [tb.NaiveBayes, tb.SemiNaiveBayes])
@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_that_name_the_rows(values, make, model):
    text = said(make({"id": values, "age": AGES}), model=model())
    assert "'id' holds integers, 400 different ones in 400 rows, which name rows" in text
    assert text.endswith("leave it out (columns={'id': 'drop'})")


def test_text_that_names_the_rows_and_text_that_is_to_be_read():
    text = said({"id": NAMES, "age": AGES})
    assert "'id' holds text, 400 different values in 400 rows, which name rows" in text
    text = said({"body": TEXTS, "age": AGES})
    assert "which read like texts; count its words (columns={'body': 'text'}) or" in text
    text = said({"body": np.repeat(TEXTS[:100], 4), "age": AGES})  # each several times
    assert "100 different values in 400 rows, which read like texts" in text


def of_codes(n=4000, k=300):
    """Return codes that say something one by one, and nothing by their size, and labels."""
    draw = np.random.default_rng(1)
    code, speaks = draw.integers(0, k, n), draw.normal(0.0, 2.0, k)
    return code * 7 + 1000, np.where(draw.random(n) < 1 / (1 + np.exp(-speaks[code])), "in", "out")


def test_numbers_that_are_codes():
    code, y = of_codes()
    text = said({"code": code}, y)
    assert "300 different ones in 4,000 rows, which tell more as categories" in text
    assert "(columns={'code': 'categorical'}), with a small alpha if they are many" in text
    with_codes, without = (
        tb.NaiveBayes(columns).cross_val({"code": code}, y, folds=5).score("roc_auc")
        for columns in ({"code": "categorical"}, "auto")
    )
    assert with_codes > without + 0.1  # so the advice is good


@pytest.mark.parametrize(
    "column",
    [
        AGES,
        DRAW.choice(10**6, N, replace=False),
        np.sort(DRAW.choice(10**9, N)),
        (np.where(Y == "no", 30, 40) + DRAW.normal(0, 9, N)).astype(int),
        np.abs((np.where(Y == "no", 4, 40) * DRAW.normal(0, 9, N)).astype(int)),
        DRAW.normal(size=N),
        DRAW.choice(["a", "b", "c"], N),
        DRAW.choice(["no reason was given at all", "it was too dear for me"], N),
    ],
    ids=["ages", "amounts", "times", "two curves", "two widths", "decimals", "few", "phrases"],
)
def test_other_columns_are_what_they_are(column):
    model = tb.NaiveBayes().fit({"x": column}, Y)
    assert not list(doubts(model.schema_))


def test_numbers_of_which_most_rows_have_their_own_are_no_codes():
    """Whatever the few that come again tell: most new rows would have a number of their own."""
    draw = np.random.default_rng(3)
    own, shared = draw.choice(10**6, 3000, replace=False) + 10**6, np.repeat(np.arange(500) * 7, 4)
    y = np.r_[draw.random(3000) < 0.5, np.repeat(draw.random(500) < 0.5, 4)]
    model = tb.NaiveBayes().fit({"x": np.r_[own, shared]}, np.where(y, "in", "out"))
    assert not list(doubts(model.schema_))


def test_few_rows_and_what_was_declared_are_not_doubted():
    few = {"id": NAMES[:20]}
    assert not list(doubts(tb.NaiveBayes().fit(few, Y[:20]).schema_))
    for columns in ({"id": "categorical"}, {"id": "drop"}, {"id": "text"}):
        model = tb.NaiveBayes(columns).fit({"id": NAMES, "age": AGES}, Y)
        assert not list(doubts(model.schema_))


def test_files_say_it_in_the_same_words_and_so_does_the_stored_model(tmp_path, capsys):
    frame = pd.DataFrame({"id": NUMBERS["1 to n"], "name": NAMES, "body": TEXTS, "y": Y})
    path, model = tmp_path / "rows.csv", tmp_path / "m.tally"
    frame.to_csv(path, index=False)
    with pytest.warns(tb.TallyBayesWarning) as caught:
        stored = train(path, "y", ModelSpec(plain=True)).stored
    of_files = [str(each.message) for each in caught]
    with pytest.warns(tb.TallyBayesWarning) as caught:
        tb.NaiveBayes().fit(frame.drop(columns="y"), Y)
    assert of_files == [str(each.message) for each in caught if "column" in str(each.message)]
    assert of_files == list(map(str, doubts(stored.fitted.tally.schema)))
    assert main(["fit", str(path), "-t", "y", "-o", str(model)]) == 0
    told = capsys.readouterr().err
    assert "name rows and say little of others; leave it out (--drop id)" in told
    assert "count its words (--text body) or leave it out (--drop body)" in told
    assert told.count("name rows") == 2
    assert list(map(str, doubts(tb.load(model).schema_))) == of_files
    assert main(["evaluate", str(path), "-t", "y", "--folds", "2"]) == 0
    told = capsys.readouterr().err
    assert told.count("--drop id") == told.count("--text body") == 1  # the folds say no more
    assert "columns=" not in told


QUANTITY = r"has [\d,]+ different numbers in [\d,]+ rows, from -?\d+.*no class to predict"


def table(labels, seed=0):
    draw = np.random.default_rng(seed)
    return {
        "size": draw.normal(size=len(labels)),
        "shape": draw.choice(["round", "flat", "long"], len(labels)),
        "t": labels,
    }


def features(rows):
    return {name: values for name, values in rows.items() if name != "t"}


def numbers(n, each, kind=int):
    """Return n different numbers, each so many times."""
    return np.random.default_rng(0).permutation(np.tile(np.arange(n, dtype=kind), each))


@pytest.mark.parametrize("spec", [ModelSpec(), ModelSpec(plain=True)], ids=["best", "plain"])
@pytest.mark.parametrize(
    "labels",
    [
        numbers(MANY_NUMBERS + 1, FEWEST_ROWS - 1),
        numbers(MOST_NUMBERS + 1, FEWEST_ROWS),
        numbers(MANY_NUMBERS + 1, 4, float),
    ],
    ids=["few rows each", "very many", "decimals"],
)
def test_a_quantity_is_refused_by_name_before_anything_is_counted(labels, spec):
    rows = table(labels)
    for run in (train, preview):
        with pytest.raises(tb.TallyBayesError, match="column 't' " + QUANTITY):
            run(rows, "t", spec)
    for model in (tb.NaiveBayes(), tb.SemiNaiveBayes()):
        with pytest.raises(tb.TallyBayesError, match="y " + QUANTITY):
            model.fit(features(rows), labels)


@pytest.mark.parametrize(
    "labels",
    [
        numbers(MANY_NUMBERS, 3),
        numbers(MANY_NUMBERS + 1, FEWEST_ROWS),
        np.char.add("c", numbers(MOST_NUMBERS + 1, 3).astype(str)),
    ],
    ids=["a hundred", "ten rows each", "names"],
)
def test_numbers_of_many_rows_each_are_classes_and_so_are_names(labels):
    rows = table(labels)
    model = tb.NaiveBayes().fit(features(rows), labels)
    assert len(model.classes_) == len(set(labels.tolist()))
    trained = train(rows, "t", ModelSpec(plain=True), scores=False)
    assert trained.stored.fitted.classes == tuple(model.classes_.tolist())


def test_of_very_many_classes_nothing_is_weighed_and_that_is_said():
    labels = np.char.add("c", numbers(search.MOST_CLASSES + 1, 2).astype(str))
    rows = table(labels)
    with pytest.warns(tb.TallyBayesWarning, match="at most 100 classes, and there are 101"):
        trained = train(rows, "t")
    with pytest.warns(tb.TallyBayesWarning, match="no weights"):
        model = tb.SemiNaiveBayes().fit(features(rows), labels)
    assert model.calibration_ is None
    assert trained.stored.fitted.recipe.calibration is None
    held = tb.NaiveBayes(prior="smoothed").cross_val(features(rows), labels, folds="loo")
    assert trained.scores.log_loss == pytest.approx(held.score("log_loss"))


def test_a_target_of_ten_thousand_classes_gives_a_model_that_predicts(tmp_path):
    """Leave-one-out of all would take gigabytes: it is left out, and the model is there."""
    rows = {"x": np.arange(20_000) % 97, "id": [f"u{k // 2}" for k in range(20_000)]}
    trained = train(rows, "id", ModelSpec(plain=True))
    assert "take too much memory" in str(trained)
    done = predict(trained.stored, {"x": [1, 2, 3]}, tmp_path / "out.csv")
    assert done.rows == 3
    assert "and 9,990 classes more" in str(done)


def test_a_row_is_left_out_of_the_weights_in_blocks_of_any_size(monkeypatch):
    draw = np.random.default_rng(1)
    n, k, c = 40, 3, 5
    y = draw.integers(0, c, n)
    terms, prior = draw.normal(size=(n, k, c)), np.zeros((n, c))
    problem = EvidenceProblem(terms, prior, y, np.ones(n), np.zeros(k, bool))
    found = problem.solved()
    whole = problem.left_out(found)
    monkeypatch.setattr("tallybayes.evidence.weights.CELLS_AT_ONCE", 100)
    np.testing.assert_allclose(problem.left_out(found), whole, rtol=1e-12)
