"""Training on files gives what an estimator that is fitted on the same table in memory gives."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.model.specification import ModelSpec, parse_column
from tallybayes.modelfile import save
from tallybayes.workflows.training import train
from tiers import crossed
from workflows.mixed import as_read, assert_same_tally, features, mixed, write

FRAME = mixed()
FORMATS = ("csv", "tsv", "csv.gz", "jsonl", "parquet", "arrow")
WORDS = tb.Words(ngrams=(1, 2), stop_words=("you", "1"))
GUESS = tb.ByClass({"no": 0.2, "yes": 1 / 3, "so": 0.5})
BY_VALUE = tb.ByValue({"Single": 0.5, "Married": 0.25, "Divorced": 0.25, "a, b": 0.1,
                       'says "so"': 0.01})  # fmt: skip

# what is typed, beside what it means
DECLARED = {
    "gaussian": (["age=gaussian:ddof=0"], {"age": tb.Gaussian(ddof=0)}),
    "gaussian with a floor": (
        ["income=gaussian:floor=0.05"],
        {"income": tb.Gaussian(floor=tb.RelativeFloor(0.05))},
    ),
    "log-normal": (["size=log-normal"], {"size": tb.LogNormal()}),
    "categorical": (
        ["rooms=categorical:alpha=1/2,unseen=smooth"],
        {"rooms": tb.Categorical(alpha=0.5, unseen="smooth")},
    ),
    "m-estimate": (["status=categorical:m=3,p=1/5"], {"status": tb.Categorical(m=3, p=0.2)}),
    "m-estimate by class": (
        ["status=categorical:m=2,p=no:0.2;yes:1/3;so:0.5"],
        {"status": tb.Categorical(m=2, p=GUESS)},
    ),
    "bins with edges": (
        ["age=bins:edges=30;50;65,alpha=0", "income=bins:edges=60"],
        {"age": tb.Bins((30, 50, 65), alpha=0), "income": tb.Bins((60,))},
    ),
    "bins without edges": (["income=bins", "size=bins:alpha=0.1"],
                           {"income": tb.Bins(), "size": tb.Bins(alpha=0.1)}),
    "bernoulli": (["on=bernoulli:threshold=1,alpha=0.3"], {"on": tb.Bernoulli(0.3, threshold=1)}),
    "multinomial": (
        ["visits=multinomial:bag=a", "calls=multinomial:bag=b,alpha=0.1"],
        {"visits": tb.Multinomial(bag="a"), "calls": tb.Multinomial(0.1, bag="b")},
    ),
    "complement": (
        ["visits=complement:norm=true,bag=a", "calls=complement"],
        {"visits": tb.Complement(norm=True, bag="a"), "calls": tb.Complement()},
    ),
    "poisson": (["visits=poisson", "calls=poisson:alpha=0.5"],
                {"visits": tb.Poisson(), "calls": tb.Poisson(0.5)}),
    "text": (
        ["mail=text:ngrams=1;2,stop_words=you;1,event=boolean,min_df=2,alpha=0.5"],
        {"mail": tb.Text(WORDS, event="boolean", min_df=2, alpha=0.5)},
    ),
    "text with a vocabulary": (
        ["mail=text:vocabulary=dinner;lottery;never,event=bernoulli"],
        {"mail": tb.Text(event="bernoulli", vocabulary=("dinner", "lottery", "never"))},
    ),
    "characters": (
        ["mail=text:tokens=characters,ngrams=1;3,lowercase=false,max_df=0.9"],
        {"mail": tb.Text(tb.Words("characters", (1, 3), lowercase=False), max_df=0.9)},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    return {each: write(FRAME, folder / f"rows.{each}") for each in FORMATS}


def assert_as_fitted(stored, model, X):
    """Compare a stored model with an estimator: what was counted, how it is estimated, answers."""
    fitted, state = stored.fitted, model.fitted_
    assert_same_tally(fitted.tally, model.tally_)
    assert fitted.recipe.families == state.recipe.families
    assert dict(fitted.recipe.columns) == dict(state.recipe.columns)
    assert (fitted.recipe.prior, fitted.recipe.positive) == (
        state.recipe.prior,
        state.recipe.positive,
    )
    assert fitted.recipe.reasons == state.recipe.reasons
    assert fitted.model.classes == tuple(model.classes_.tolist())
    np.testing.assert_allclose(fitted.model.posterior(X), model.predict_proba(X), rtol=1e-11)
    assert fitted.model.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("each", FORMATS)
def test_every_format_is_the_table_in_memory(files, each):
    model = tb.NaiveBayes().fit(features(FRAME), FRAME["label"])
    stored = train(files[each], "label", scores=False).stored
    assert_as_fitted(stored, model, features(FRAME))
    assert stored.fitted.tally.schema == model.schema_  # with the very reasons


@pytest.mark.parametrize(("name", "each"), crossed(DECLARED, ["csv", "parquet"], every=3))
def test_what_is_typed_of_columns_is_what_families_say(files, name, each):
    texts, families = DECLARED[name]
    X = features(as_read(FRAME, families, each))
    model = tb.NaiveBayes(families).fit(X, FRAME["label"])
    spec = ModelSpec(columns=dict(map(parse_column, texts)))
    assert_as_fitted(train(files[each], "label", spec, scores=False).stored, model, X)


def test_categories_that_are_declared_are_letters_in_csv_and_values_elsewhere(tmp_path):
    frame = pd.DataFrame({"code": [7, 7, 8, 9] * 3, "label": ["a", "b", "b", "a"] * 3})
    (tmp_path / "rows.csv").write_text(frame.to_csv(index=False).replace("\n7,", "\n007,"))
    spec = ModelSpec(columns={"code": "categorical"})
    for path, wanted in (
        (str(tmp_path / "rows.csv"), ("007", "8", "9")),
        (write(frame, tmp_path / "rows.parquet"), (7, 8, 9)),
        (write(frame, tmp_path / "rows.jsonl"), (7, 8, 9)),
    ):
        (block,) = train(path, "label", spec).stored.fitted.tally.blocks
        assert block.labels == (wanted,)


def test_every_family_is_tried():
    tried = {type(family) for _, families in DECLARED.values() for family in families.values()}
    assert tried == {
        tb.Gaussian, tb.LogNormal, tb.Categorical, tb.Bins, tb.Bernoulli, tb.Multinomial,
        tb.Complement, tb.Poisson, tb.Text,
    }  # fmt: skip


@pytest.mark.parametrize(
    "columns",
    [
        {"status": tb.Categorical(m=3, p=BY_VALUE)},
        {"status": tb.Categorical(m=3, p=tb.ByClass({"no": BY_VALUE, "yes": 0.2, "so": 0.3}))},
        {"status": tb.Categories(("Widowed", "Single"))},
        {"rooms": tb.Numeric(), "age": "categorical"},
    ],
    ids=["by value", "by class and value", "declared values", "kinds"],
)
def test_families_and_kinds_may_be_given_as_values(files, columns):
    X = features(as_read(FRAME, columns, "csv"))
    model = tb.NaiveBayes(columns).fit(X, FRAME["label"])
    stored = train(files["csv"], "label", ModelSpec(columns=columns), scores=False).stored
    assert_as_fitted(stored, model, X)


@pytest.mark.parametrize("word", ["gaussian", "bins", "poisson"])
def test_one_family_may_be_for_all_columns(files, word):
    numbers = features(FRAME)[["age", "rooms", "on", "visits"]]
    model = tb.NaiveBayes(word).fit(numbers, FRAME["label"])
    spec = ModelSpec(columns=word, only=tuple(numbers.columns))
    assert_as_fitted(train(files["csv"], "label", spec, scores=False).stored, model, numbers)


def test_one_family_for_all_columns_leaves_text_to_text(files):
    numbers = features(FRAME)[["age", "rooms", "mail"]]
    model = tb.NaiveBayes({"age": "poisson", "rooms": "poisson", "mail": "text"})
    model.fit(numbers, FRAME["label"])
    spec = ModelSpec(columns="poisson", text=("mail",), only=("age", "rooms"))
    assert_as_fitted(train(files["csv"], "label", spec, scores=False).stored, model, numbers)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (ModelSpec(drop=("mail", "times")), features(FRAME, "mail", "times").columns),
        (ModelSpec(only=("age", "status")), ["age", "status"]),
        (ModelSpec(only=("age",), columns={"status": "categorical"}), ["age", "status"]),
        (ModelSpec(only=("age",), text=("mail",)), ["age", "mail"]),
    ],
    ids=["drop", "only", "only and declared", "only and text"],
)
def test_only_the_columns_that_are_chosen_are_used(files, given, names):
    stored = train(files["parquet"], "label", given, scores=False).stored
    assert stored.fitted.tally.schema.names == tuple(names)
    model = tb.NaiveBayes(given.declared).fit(FRAME[list(names)], FRAME["label"])
    assert_as_fitted(stored, model, FRAME[list(names)])


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_alpha_and_unseen_hold_for_columns_that_do_not_state_their_own(files, alpha, unseen):
    columns = {"rooms": tb.Categorical(alpha=2.0), "on": "bernoulli"}
    X = features(as_read(FRAME, columns, "csv"), "mail")
    new = X.head(10).assign(rooms="7")
    model = tb.NaiveBayes(columns, alpha=alpha, unseen=unseen).fit(X, FRAME["label"])
    spec = ModelSpec(columns=columns, alpha=alpha, unseen=unseen, drop=("mail",))
    stored = train(files["csv"], "label", spec, scores=False).stored
    assert_as_fitted(stored, model, X)
    np.testing.assert_allclose(
        stored.fitted.model.posterior(new), model.predict_proba(new), rtol=1e-11
    )


class TestPriors:
    @pytest.mark.parametrize(
        "prior",
        ["uniform", {"no": 0.5, "yes": 0.2, "so": 0.3}, tb.Empirical(alpha=2.0), tb.Uniform()],
        ids=["uniform", "stated", "smoothed", "value"],
    )
    def test_the_prior_is_the_one_that_is_asked_for(self, files, prior):
        model = tb.NaiveBayes(prior=prior, positive="yes").fit(features(FRAME), FRAME["label"])
        spec = ModelSpec(prior=prior, positive="yes")
        stored = train(files["csv"], "label", spec, scores=False).stored
        assert_as_fitted(stored, model, features(FRAME))

    @pytest.mark.parametrize(
        ("labels", "texts"),
        [((0, 1), ("0", "1")), ((False, True), ("false", "True")), ((1.0, 2.0), ("1.0", "2")),
         (("0", "1x"), ("0", "1x"))],
        ids=["integers", "booleans", "decimals", "text"],
    )  # fmt: skip
    @pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
    def test_labels_may_be_typed(self, tmp_path, labels, texts, each):
        frame = mixed(60, labels=labels)[["income", "status", "label"]]
        path = write(frame, tmp_path / f"rows.{each}")
        guess = tb.ByClass(dict(zip(labels, (0.25, 0.5), strict=True)))
        model = tb.NaiveBayes(
            {"status": tb.Categorical(m=2, p=guess)},
            prior=dict(zip(labels, (0.3, 0.7), strict=True)),
            positive=labels[1],
        ).fit(features(frame), frame["label"])
        typed = f"status=categorical:m=2,p={texts[0]}:1/4;{texts[1]}:1/2"
        spec = ModelSpec(
            columns=dict([parse_column(typed)]),
            prior=dict(zip(texts, (0.3, 0.7), strict=True)),
            positive=texts[1],
        )
        stored = train(path, "label", spec, scores=False).stored
        assert_as_fitted(stored, model, features(frame))
        assert list(map(type, stored.fitted.classes)) == list(map(type, labels))

    def test_a_few_decimals_may_be_labels(self, tmp_path):
        frame = mixed(60, labels=(0.5, 1.5))[["income", "rooms", "label"]]
        path = write(frame, tmp_path / "rows.csv")
        wanted = tb.Tally.of(features(frame), frame["label"])
        found = train(path, "label", ModelSpec(positive="1.5"), scores=False).stored.fitted
        assert_same_tally(found.tally, wanted)
        assert (found.classes, found.recipe.positive) == ((0.5, 1.5), 1.5)

    def test_labels_of_one_family_for_all_columns_may_be_typed_too(self):
        frame = mixed(60, labels=(0, 1))[["status", "rooms", "label"]]
        family = tb.Categorical(m=2, p=tb.ByClass({0: 0.25, 1: 0.5}))
        typed = tb.Categorical(m=2, p=tb.ByClass({"0": 0.25, "1": 0.5}))
        model = tb.NaiveBayes(family).fit(features(frame), frame["label"])
        stored = train(frame, "label", ModelSpec(columns=typed), scores=False).stored
        assert_as_fitted(stored, model, features(frame))


class TestWeights:
    @pytest.mark.parametrize("each", ["csv", "parquet"])
    def test_a_column_of_weights_is_the_sample_weight(self, files, each):
        X = features(FRAME, "times")
        model = tb.NaiveBayes().fit(X, FRAME["label"], sample_weight=FRAME["times"])
        stored = train(files[each], "label", weight="times", scores=False).stored
        assert_as_fitted(stored, model, X)

    def test_a_weight_of_three_is_three_rows(self, tmp_path):
        columns = {"size": "bins", "mail": "text"}
        path = write(FRAME, tmp_path / "weighted.csv")
        weighted = train(path, "label", ModelSpec(columns=columns), weight="times", scores=False)
        repeated = FRAME.loc[FRAME.index.repeat(FRAME["times"])].drop(columns="times")
        path = write(repeated, tmp_path / "repeated.csv")
        plain = train(path, "label", ModelSpec(columns=columns), scores=False)
        a, b = weighted.stored.fitted.tally, plain.stored.fitted.tally
        assert a.schema.edges["size"] == b.schema.edges["size"] != ()
        np.testing.assert_allclose(a.weight, b.weight, rtol=1e-13)
        X = features(FRAME, "times")
        np.testing.assert_allclose(
            weighted.stored.fitted.model.posterior(X),
            plain.stored.fitted.model.posterior(X),
            rtol=1e-9,
        )

    def test_a_row_of_weight_zero_is_not_there(self, tmp_path):
        frame = FRAME.assign(times=np.where(FRAME["label"] == "so", 0, FRAME["times"]))
        path = write(frame, tmp_path / "rows.csv")
        some = frame[frame["times"] > 0]
        columns = {"income": "bins"}
        model = tb.NaiveBayes(columns)
        model.fit(features(some, "times"), some["label"], sample_weight=some["times"])
        stored = train(
            path, "label", ModelSpec(columns=columns), weight="times", scores=False
        ).stored
        assert_as_fitted(stored, model, features(some, "times"))
        assert stored.fitted.classes == ("no", "yes")
        assert stored.provenance.rows == len(some)


class TestThroughTheEstimator:
    """Families that are chosen and calibrations take all rows at once."""

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_a_calibrated_model_is_the_estimators(self, files, how):
        X = features(FRAME, "mail", "times")
        model = tb.NaiveBayes(calibration=how).fit(X, FRAME["label"])
        spec = ModelSpec(calibration=how, drop=("mail", "times"))
        trained = train(files["csv"], "label", spec)
        assert trained.stored.fitted.recipe.calibration.how == how
        assert_as_fitted(trained.stored, model, X)
        assert trained.scores is None
        assert "leaving rows out" in trained.no_scores

    @pytest.mark.parametrize("each", ["csv", "parquet"])
    def test_the_best_families_are_the_estimators(self, files, each):
        X = features(FRAME, "mail", "times")
        model = tb.NaiveBayes("best").fit(X, FRAME["label"])
        stored = train(
            files[each], "label", ModelSpec(columns="best", drop=("mail", "times"))
        ).stored
        assert_as_fitted(stored, model, X)

    def test_a_family_may_be_chosen_for_one_column_only(self, files):
        columns = {"size": "best", "age": "bins"}
        X = features(FRAME, "times")
        model = tb.NaiveBayes({**columns, "mail": "text"})
        model.fit(X, FRAME["label"], sample_weight=FRAME["times"])
        spec = ModelSpec(columns=columns, text=("mail",))
        stored = train(files["csv"], "label", spec, weight="times").stored
        assert_as_fitted(stored, model, X)


class TestTables:
    """Tables in memory are rows too."""

    @pytest.mark.parametrize(
        "made",
        [
            lambda frame: frame,
            lambda frame: pl.from_pandas(frame),
            lambda frame: pl.from_pandas(frame).lazy(),
            lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
            lambda frame: pa.Table.from_pandas(frame, preserve_index=False).to_reader(50),
            lambda frame: frame.astype(object).where(frame.notna(), None).to_dict("records"),
            lambda frame: frame.astype(object).where(frame.notna(), None).to_dict("list"),
        ],
        ids=["pandas", "polars", "lazy", "arrow", "reader", "records", "lists"],
    )
    def test_whatever_holds_the_rows_gives_the_same_model(self, made):
        model = tb.NaiveBayes().fit(features(FRAME), FRAME["label"])
        stored = train(made(FRAME), "label", scores=False).stored
        assert_as_fitted(stored, model, features(FRAME))
        assert stored.provenance.sources == ("a table",)

    @pytest.mark.parametrize("name", [None, "customer"], ids=["plain", "named"])
    def test_the_index_of_a_frame_is_no_column(self, name):
        some = FRAME[FRAME["rooms"] > 1].rename_axis(name)
        model = tb.NaiveBayes().fit(features(some), some["label"])
        assert_as_fitted(train(some, "label", scores=False).stored, model, features(some))

    def test_the_values_of_a_categorical_are_declared(self):
        known = ["Widowed", *FRAME["status"].dropna().unique()]
        frame = FRAME.assign(status=FRAME["status"].astype(pd.CategoricalDtype(known)))
        model = tb.NaiveBayes(unseen="smooth").fit(features(frame), frame["label"])
        stored = train(frame, "label", ModelSpec(unseen="smooth"), scores=False).stored
        assert "Widowed" in stored.fitted.tally.schema.declared["status"]
        assert_as_fitted(stored, model, features(frame))


class TestSeveralFiles:
    def test_files_are_one_table(self, tmp_path):
        for k, part in enumerate(np.array_split(np.arange(len(FRAME)), 3)):
            write(FRAME.iloc[part], tmp_path / f"part{k}.csv")
        model = tb.NaiveBayes().fit(features(FRAME), FRAME["label"])
        paths = [str(tmp_path / f"part{k}.csv") for k in range(3)]
        for data in (paths, str(tmp_path), str(tmp_path / "part*.csv")):
            stored = train(data, "label", scores=False).stored
            assert_as_fitted(stored, model, features(FRAME))
        assert train(paths, "label", scores=False).stored.provenance.sources == (", ".join(paths),)

    def test_whole_numbers_in_one_file_and_decimals_in_another_are_decimals(self, tmp_path):
        whole = FRAME.head(60)
        decimal = FRAME.tail(60).assign(age=lambda frame: frame["age"] + 0.5)
        a = write(whole, tmp_path / "a.parquet")
        b = write(decimal, tmp_path / "b.parquet")
        both = pd.concat([whole, decimal])
        model = tb.NaiveBayes().fit(features(both), both["label"])
        trained = train([a, b], "label")
        assert_as_fitted(trained.stored, model, features(both))
        held = tb.NaiveBayes().cross_val(features(both), both["label"], folds="loo")
        assert trained.scores.log_loss == pytest.approx(held.report().log_loss, rel=1e-9)
        spec = ModelSpec(calibration="temperature")
        model = tb.NaiveBayes(calibration="temperature").fit(features(both), both["label"])
        assert_as_fitted(train([a, b], "label", spec).stored, model, features(both))


@pytest.mark.parametrize("unused", [{"drop": ("mail", "age")}, {"only": ("age", "status")}])
def test_columns_that_were_left_out_stay_out_when_the_model_learns_on(tmp_path, unused):
    stored = train(FRAME, "label", ModelSpec(**unused), weight="times", scores=False).stored
    save(tmp_path / "model.tally", stored)
    model = tb.load(tmp_path / "model.tally").partial_fit(features(FRAME), FRAME["label"])
    assert model.schema_.names == stored.fitted.tally.schema.names


class TestWhatIsSaid:
    def test_provenance_says_what_was_read(self, files):
        made = train(files["csv"], "label", scores=False).stored.provenance
        assert made.sources == (files["csv"],)
        assert (made.rows, made.skipped) == (len(FRAME), 0)
        assert made.history == (f"fit {files['csv']}: {len(FRAME)} rows",)

    def test_it_is_told_as_text_and_as_json(self, files):
        trained = train(files["csv"], "label")
        said = str(trained)
        for name in features(FRAME).columns:
            assert name in said
        assert ["accuracy", f"{trained.scores.accuracy:.4f}"] in map(str.split, said.splitlines())
        found = json.loads(json.dumps(trained.to_dict()))
        assert found["leave_one_out"]["scores"]["accuracy"] == trained.scores.accuracy
        assert found["rows"] == len(FRAME)
        assert [each["name"] for each in found["columns"]] == list(features(FRAME).columns)

    def test_without_scores_there_are_none(self, files):
        trained = train(files["csv"], "label", scores=False)
        assert trained.scores is None
        assert trained.no_scores == ""
        assert isinstance(trained.stored.fitted, Fitted)
        assert "leave" not in str(trained)
