"""Classes that have names: sentences, tables, pictures, the file and the command line use them."""

import copy
import json
import pickle
from io import StringIO

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes import plots
from tallybayes.cli.main import main

NAMES = {0: "repaid", 1: "default"}
DRAW = np.random.default_rng(0)
BAD = pd.Series((DRAW.random(120) < 0.4).astype(int), name="BAD")
TABLE = pd.DataFrame(
    {
        "debt": BAD * 2.0 + DRAW.normal(0.0, 1.0, 120),
        "job": np.where(DRAW.random(120) < 0.3 + 0.4 * BAD, "none", "some"),
    }
)
MODELS = [tb.NaiveBayes, tb.SemiNaiveBayes]


@pytest.mark.parametrize("make", MODELS)
def test_answers_stay_what_they_are_and_words_use_the_names(make):
    plain, named = make().fit(TABLE, BAD), make(labels=NAMES).fit(TABLE, BAD)
    np.testing.assert_array_equal(named.predict(TABLE), plain.predict(TABLE))
    np.testing.assert_allclose(named.predict_proba(TABLE), plain.predict_proba(TABLE), rtol=1e-12)
    assert named.explain(TABLE.iloc[0]).decision == plain.explain(TABLE.iloc[0]).decision
    record = TABLE.iloc[0]
    assert f"{(BAD == 0).sum()} 'repaid', {BAD.sum()} 'default'" in str(named.summary())
    for text in (named.explain(record), named.counterfactuals(record)):
        assert "repaid" in str(text)
        assert "default" in str(text)
        assert "BAD = " not in str(text)
    held = named.cross_val(TABLE, BAD, folds=3, seed=0)
    assert "those of class 'default'" in str(held.report())
    assert "repaid" in str(held.confusion)
    assert held.report().to_dict()["classes"] == [0, 1]


def test_without_names_numbers_are_said_with_what_they_are_of():
    held = tb.NaiveBayes().cross_val(TABLE, BAD, folds=3, seed=0)
    assert "those of BAD = 1" in str(held.report())
    for display, text in (
        (plots.RocCurveDisplay, "ROC curve: BAD = 1"),
        (plots.PrecisionRecallDisplay, "Precision-recall curve: BAD = 1"),
    ):
        assert display(held).plot().ax_.get_title(loc="left") == text
    alone = tb.metrics.Predictions.of([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    assert "those of class 1" in str(alone.report())


def test_pictures_use_the_names():
    model = tb.NaiveBayes(labels=NAMES).fit(TABLE, BAD)
    roc = plots.RocCurveDisplay.from_estimator(model, TABLE, BAD)
    assert roc.ax_.get_title(loc="left") == "ROC curve: default"
    table = plots.ConfusionMatrixDisplay.from_estimator(model, TABLE, BAD)
    assert [each.get_text() for each in table.ax_.get_yticklabels()] == ["repaid", "default"]
    assert "default is taken for" in table.alt_text or "repaid is taken for" in table.alt_text
    assert "repaid" in plots.NomogramDisplay.from_estimator(model).alt_text
    assert "default" in model.report(TABLE, BAD).html


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_names_go_along(tmp_path, make, again):
    model = make(labels=NAMES).fit(TABLE, BAD)
    model.save(tmp_path / "m.tally")
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded.labels == NAMES
    for each in (again(model), loaded, model.partial_fit(TABLE[:5], BAD[:5])):
        assert "'default'" in str(each.summary())
    assert "'default'" in str((model + model).summary())


def test_texts_have_names_of_classes_too(tmp_path):
    texts, y = ["win money now", "see you at lunch", "win a prize"], [1, 0, 1]
    model = tb.TextNB(labels={0: "ham", 1: "spam"}).fit(texts, y)
    model.save(tmp_path / "m.tally")
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded.labels == {0: "ham", 1: "spam"}
    for each in (model, loaded):
        assert each.predict(["win money"]).tolist() == [1]
        assert "The answer is spam" in str(each.explain("win money"))
        assert "1 'ham', 2 'spam'" in str(each.summary())


def test_names_of_no_class_and_equal_ones_are_refused():
    with pytest.raises(
        tb.TallyBayesError, match=r"labels=\{2: 'other'\} is of no class that there is; known: 0"
    ):
        tb.NaiveBayes(labels={2: "other"}).fit(TABLE, BAD)
    with pytest.raises(tb.TallyBayesError, match="labels calls two classes the same"):
        tb.NaiveBayes(labels={0: "x", 1: "x"}).fit(TABLE, BAD)


@pytest.mark.parametrize("more", [["--plain"], []], ids=["plain", "best"])
def test_on_the_command_line(tmp_path, capsys, more):
    data, model = tmp_path / "rows.csv", tmp_path / "m.tally"
    TABLE.assign(BAD=BAD).to_csv(data, index=False)
    names = ["--label", "0=repaid", "--label", "1=default"]
    assert main(["fit", str(data), "-t", "BAD", "-o", str(model), *more, *names]) == 0
    shown = capsys.readouterr().out
    assert "'repaid'" in shown
    assert "those of class 'default'" in shown
    assert main(["explain", str(model), str(data)]) == 0
    assert "The answer is" in (answer := capsys.readouterr().out)
    assert "BAD = " not in answer
    assert main(["predict", str(model), str(data)]) == 0
    out, err = capsys.readouterr()
    assert set(pd.read_csv(StringIO(out)).prediction) <= {0, 1}
    assert "'default'" in err
    assert main(["inspect", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "BAD"
    judged = ["evaluate", str(data), "-t", "BAD", "--folds", "3", *more]
    assert main(judged) == 0
    assert "those of BAD = 1" in capsys.readouterr().out
    assert main([*judged, *names]) == 0
    assert "those of class 'default'" in capsys.readouterr().out
