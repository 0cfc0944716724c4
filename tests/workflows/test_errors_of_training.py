"""Every trouble with the data is one sentence that names the file and the column, and a remedy."""

from dataclasses import replace

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows.evaluation import (
    compare_models,
    compare_specs,
    evaluate,
    evaluate_model,
    tune_spec,
)
from tallybayes.workflows.training import train
from workflows.mixed import mixed, write

FRAME = mixed(60, seed=14)
SPEC = ModelSpec(only=("age", "status"))


@pytest.fixture
def path(tmp_path):
    return write(FRAME, tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("target", "spec", "weight", "match"),
    [
        ("lable", ModelSpec(), None, "there is no column 'lable' to predict; did you mean 'label'"),
        (
            "label",
            ModelSpec(drop=("label",)),
            None,
            "'label' is what is predicted; it cannot be dropped",
        ),
        ("label", ModelSpec(), "label", "'label' is what is predicted"),
        ("label", ModelSpec(), "tims", "there is no column 'tims'; did you mean 'times'"),
        (
            "label",
            ModelSpec(drop=tuple(FRAME.columns[:-1])),
            None,
            "no column is left .*; drop fewer",
        ),
        (
            "label",
            ModelSpec({"ag": "gaussian"}),
            None,
            "there is no column 'ag'; did you mean 'age'",
        ),
    ],
    ids=["target", "dropped", "weighed", "weight", "nothing left", "declared"],
)
@pytest.mark.parametrize("way", [train, evaluate])
def test_columns_that_are_not_there_are_named_with_the_file(path, way, target, spec, weight, match):
    with pytest.raises(tb.TallyBayesError, match=rf"rows\.csv: {match}"):
        way(path, target, spec, weight=weight)


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        (ModelSpec({"age": "gausian"}), r"columns\['age'\] is 'gausian'; did you mean 'gaussian'"),
        (ModelSpec("gausian"), "columns is 'gausian'; did you mean 'gaussian'"),
        (ModelSpec(alpha=-1), "alpha is -1; it must be a number, at least 0"),
        (
            ModelSpec(unseen="forget"),
            "unseen is 'forget'; it must be 'ignore', 'smooth' or 'error'",
        ),
        (ModelSpec(prior={"no": 1.0}), "no prior is stated for class 'so'"),
        (
            ModelSpec(prior={"no": 0.2, "yes": 0.3, "so": 0.4, "never": 0.1}),
            "a prior is stated for the unknown class 'never'; known: 'no', 'so', 'yes'",
        ),
        (ModelSpec(positive="maybe"), "the positive class 'maybe' is not a class"),
        (ModelSpec({"age": tb.Categorical(m=1, p=tb.ByClass({"no": 0.5}))}), "p of column 'age'"),
    ],
    ids=["family", "families", "alpha", "unseen", "prior", "unknown", "positive", "guess"],
)
def test_what_cannot_be_estimated_is_refused(path, spec, match):
    with pytest.raises(tb.TallyBayesError, match=match):
        train(path, "label", spec)


@pytest.mark.parametrize("text", ["", "\n\n", "income,label\n"], ids=["empty", "blank", "header"])
@pytest.mark.parametrize("way", [train, evaluate])
def test_a_file_without_rows_is_named(tmp_path, way, text):
    path = tmp_path / "none.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(tb.TallyBayesError, match=r"none\.csv (is empty|has no rows); expected"):
        way(str(path), "label")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(tb.TallyBayesError, match=r"none\.csv"):
        train(str(tmp_path / "none.csv"), "label")


class TestTargets:
    @pytest.mark.parametrize(
        "values",
        [np.linspace(0.0, 1.0, 60), np.arange(60), [f"name {k}" for k in range(60)]],
        ids=["decimals", "integers", "names"],
    )
    def test_what_has_another_value_in_every_row_is_no_class(self, tmp_path, values):
        path = write(FRAME.assign(label=values), tmp_path / "rows.csv")
        with pytest.raises(
            tb.TallyBayesError, match=r"column 'label' has 60 different .*name another target"
        ):
            train(path, "label")

    def test_a_target_that_is_empty_is_refused(self, tmp_path):
        path = write(FRAME.assign(label=None), tmp_path / "rows.csv")
        with pytest.raises(
            tb.TallyBayesError, match="column 'label' is empty in the first 60 rows"
        ):
            train(path, "label")

    def test_a_missing_label_names_its_row(self, tmp_path):
        frame = FRAME.copy()
        frame.loc[41, "label"] = None
        path = write(frame, tmp_path / "rows.csv")
        for way in (train, evaluate):
            with pytest.raises(
                tb.TallyBayesError, match=r"rows\.csv, row 42: the label is missing"
            ):
                way(path, "label")

    def test_one_class_only_is_trained_with_a_warning(self, tmp_path):
        path = write(FRAME.assign(label="all"), tmp_path / "rows.csv")
        with pytest.warns(
            tb.TallyBayesWarning, match=r"every row of .*rows\.csv .*'all' .*'label'"
        ):
            trained = train(path, "label")
        assert trained.stored.fitted.classes == ("all",)
        assert "too few" in trained.no_scores

    def test_a_single_row_is_trained_with_a_warning(self):
        with pytest.warns(tb.TallyBayesWarning, match="every row"):
            trained = train(FRAME.head(1)[["age", "label"]], "label")
        assert trained.stored.provenance.rows == 1


class TestRows:
    @pytest.mark.parametrize("weight", [-1.0, None, float("inf")], ids=["below 0", "none", "inf"])
    def test_a_weight_that_is_none_names_its_row(self, tmp_path, weight):
        frame = FRAME.assign(w=1.0)
        frame.loc[20, "w"] = weight
        path = write(frame, tmp_path / "rows.csv")
        with pytest.raises(tb.TallyBayesError, match=r"rows\.csv, row 21: .*weight"):
            train(path, "label", weight="w")
        with pytest.raises(tb.TallyBayesError, match=r"rows\.csv, row 21: .*weight"):
            train(path, "label", ModelSpec({"age": "bins"}), weight="w")
        skipped = train(path, "label", weight="w", read=ReadOptions(bad_rows="skip"))
        assert (skipped.stored.provenance.rows, skipped.rejected.count) == (59, 1)

    def test_weights_of_zero_leave_nothing_to_learn_from(self):
        with pytest.raises(tb.TallyBayesError, match=r"no row to learn from: .* weigh 0"):
            train(FRAME.assign(w=0), "label", weight="w")

    @pytest.mark.parametrize(
        ("column", "value", "word", "why"),
        [
            ("size", -1.0, "log_normal", "only numbers above 0"),
            ("visits", -2, "poisson", "negative"),
            ("income", float("inf"), "gaussian", "infinity"),
        ],
        ids=["logarithm", "count", "infinity"],
    )
    def test_a_value_that_a_family_cannot_take_names_its_row(
        self, tmp_path, column, value, word, why
    ):
        frame = FRAME.copy()
        frame.loc[33, column] = value
        path = write(frame, tmp_path / "rows.csv")
        with pytest.raises(tb.TallyBayesError, match=rf"rows\.csv, row 34: .*'{column}'.*{why}"):
            train(path, "label", ModelSpec({column: word}))
        done = train(path, "label", ModelSpec({column: word}), read=ReadOptions(bad_rows="report"))
        assert done.rejected.count == 1
        assert "row 34" in done.rejected.lines[0]

    def test_every_bad_row_is_reported_and_five_are_shown(self, tmp_path):
        frame = FRAME.astype({"age": object})
        frame.loc[frame.index[::7], "age"] = "old"
        path = write(frame, tmp_path / "rows.csv")
        spec = ModelSpec({"age": "gaussian"})
        for how, lines in (("skip", 5), ("report", 9)):
            done = train(path, "label", spec, read=ReadOptions(bad_rows=how))
            assert (done.rejected.count, len(done.rejected.lines)) == (9, lines)
            assert len(done.to_dict()["bad_examples"]) == lines

    def test_text_where_numbers_are_declared_names_row_and_column(self, path):
        with pytest.raises(
            tb.TallyBayesError, match=r"rows\.csv, row 1, column 'status': '.*' is not"
        ):
            train(path, "label", ModelSpec({"status": "gaussian"}))
        with pytest.raises(
            tb.TallyBayesError, match=r"rows\.csv: column 'status' holds '.*', where"
        ):
            train(path, "label", ModelSpec({"status": "bins"}))

    @pytest.mark.parametrize("word", ["gaussian", "bins", "poisson"])
    def test_one_word_among_numbers_that_are_declared_names_its_row(self, tmp_path, word):
        frame = FRAME.astype({"age": object})
        frame.loc[25, "age"] = "old"
        path = write(frame, tmp_path / "rows.csv")
        spec = ModelSpec({"age": word}, only=("age",))
        with pytest.raises(tb.TallyBayesError, match=r"rows\.csv, row 26, column 'age': 'old'"):
            train(path, "label", spec)
        good = FRAME.drop(25).reset_index(drop=True)
        found = train(path, "label", spec, read=ReadOptions(bad_rows="skip"), scores=False).stored
        model = tb.NaiveBayes({"age": word}).fit(good[["age"]], good["label"])
        np.testing.assert_allclose(
            found.fitted.model.posterior(good[["age"]]),
            model.predict_proba(good[["age"]]),
            rtol=1e-9,
        )


@pytest.mark.parametrize(
    "work",
    [
        lambda path, stored, **options: evaluate_model(stored, path, **options),
        lambda path, stored, **options: evaluate(path, "label", SPEC, folds=3, **options),
        lambda path, stored, **options: compare_models({"a": stored, "b": stored}, path, **options),
        lambda path, stored, **options: compare_specs(
            {"a": SPEC, "b": replace(SPEC, alpha=3)}, path, "label", folds=3, **options
        ),
        lambda path, stored, **options: tune_spec(
            path, "label", SPEC, {"alpha": [1, 2]}, nested=None, **options
        ),
    ],
    ids=["test file", "folds", "models", "specifications", "tuning"],
)
def test_whoever_wants_to_know_is_told_of_the_rows_that_were_set_aside(tmp_path, work):
    frame = FRAME.astype({"age": object})
    frame.loc[[7, 30], "age"] = "old"
    path = write(frame, tmp_path / "rows.csv")
    stored = train(FRAME, "label", SPEC, scores=False).stored
    aside = work(path, stored, read=ReadOptions(bad_rows="report")).rejected
    assert aside.count == 2
    assert [line.split(", ")[1] for line in aside.lines] == ["row 8", "row 31"]


@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_why_no_row_fits_is_told(tmp_path, bad_rows):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,a,b\n2,b,c\n")
    with pytest.raises(tb.TallyBayesError, match=r"rows\.csv, row 1: "):
        train(path, "y", read=ReadOptions(bad_rows=bad_rows))
