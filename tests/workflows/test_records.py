"""Single records: typed in, taken from a file, drawn from a model."""

import io

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet
from scipy import stats

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows.records import record_in, record_of, sample
from tallybayes.workflows.training import train
from workflows.mixed import features, mixed, write

FRAME = mixed(300, seed=12)
COLUMNS = {
    "size": "log_normal",
    "on": tb.Bernoulli(threshold=1),
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
}


@pytest.fixture(scope="module")
def stored():
    return train(FRAME, "label", ModelSpec(columns=COLUMNS, text=("mail",)), scores=False).stored


class TestTyped:
    def test_every_value_gets_the_type_of_its_column(self, stored):
        record = record_of(
            stored,
            {"income": "1e2", "age": " 41", "rooms": "3", "owner": "TRUE", "status": "Single",
             "on": "1", "mail": "Win 3", "visits": "2", "label": "yes"},
        )  # fmt: skip
        assert record == {
            "income": 100.0, "age": 41.0, "rooms": 3, "owner": True, "status": "Single",
            "on": 1.0, "mail": "Win 3", "visits": 2.0, "label": "yes",
        }  # fmt: skip
        assert type(record["rooms"]) is int
        assert record["owner"] is True

    def test_a_record_that_is_typed_is_judged_as_the_row_that_holds_it(self, stored):
        names = stored.fitted.tally.schema.names
        for _, row in FRAME.head(20).iterrows():
            texts = {name: "" if pd.isna(row[name]) else str(row[name]) for name in names}
            found = stored.fitted.model.posterior_of(record_of(stored, texts))
            wanted = stored.fitted.model.posterior(pd.DataFrame([row])[list(names)].infer_objects())
            assert list(found.values()) == pytest.approx(wanted[0].tolist(), rel=1e-9)

    def test_nothing_is_missing(self, stored):
        assert record_of(stored, {"income": "", "mail": "", "label": ""}) == {
            "income": None, "mail": None,
        }  # fmt: skip

    def test_values_that_are_no_text_stay(self, stored):
        assert record_of(stored, {"rooms": 3, "income": None}) == {"rooms": 3, "income": None}

    @pytest.mark.parametrize("labels", [(0, 1), (False, True), (1.0, 2.0)], ids=str)
    def test_a_label_gets_its_type_too(self, labels):
        frame = mixed(60, labels=labels)[["income", "label"]]
        model = train(frame, "label", scores=False).stored
        record = record_of(model, {"label": str(labels[1])})
        assert record == {"label": labels[1]}
        assert type(record["label"]) is type(labels[1])

    @pytest.mark.parametrize(
        ("name", "text", "what"),
        [
            ("income", "1,5", "a number"),
            ("rooms", "3.5", "a whole number"),
            ("owner", "yes", "true or false"),
        ],
    )
    def test_what_is_no_value_of_the_column_is_refused(self, stored, name, text, what):
        with pytest.raises(tb.TallyBayesError, match=f"column '{name}': '{text}' is not {what}"):
            record_of(stored, {name: text})

    def test_a_column_that_is_none_is_refused(self, stored):
        with pytest.raises(tb.TallyBayesError, match="no column 'incom'; did you mean 'income'"):
            record_of(stored, {"incom": "3"})


class TestTaken:
    @pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
    @pytest.mark.parametrize("row", [1, 2, 150, 300])
    def test_the_row_of_that_number_counted_from_one(
        self, tmp_path, stored, small_blocks, each, row
    ):
        path = write(FRAME, tmp_path / f"rows.{each}")
        record = record_in(stored, path, row)
        wanted = FRAME.iloc[row - 1]
        assert set(record) == set(features(FRAME).columns)
        for name, value in record.items():
            if pd.isna(wanted[name]):
                assert value is None
            elif isinstance(value, float):
                assert value == pytest.approx(wanted[name], rel=1e-13)
            else:
                assert value == wanted[name]
        table = FRAME.iloc[[row - 1]][list(features(FRAME).columns)]
        found = stored.fitted.model.posterior_of(record)
        wanted_posterior = stored.fitted.model.posterior(table)[0].tolist()
        assert list(found.values()) == pytest.approx(wanted_posterior, rel=1e-9)

    @pytest.mark.parametrize("row", [0, -1])
    def test_there_is_no_row_before_the_first(self, stored, row):
        with pytest.raises(
            tb.TallyBayesError, match=f"the row is {row}; it must be a whole number from 1"
        ):
            record_in(stored, FRAME, row)

    def test_there_is_no_row_after_the_last(self, tmp_path, stored):
        path = write(FRAME, tmp_path / "rows.csv")
        with pytest.raises(tb.TallyBayesError, match=r"rows\.csv has 300 rows; .* no row 301"):
            record_in(stored, path, 301)

    def test_a_last_row_that_does_not_fit_is_there_all_the_same(self, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text("x,y\n1.5,a\n2.5,b\noops,a\n")
        read = ReadOptions(bad_rows="skip")
        stored = train(
            path, "y", ModelSpec(columns={"x": "gaussian"}), read=read, scores=False
        ).stored
        with pytest.raises(tb.TallyBayesError, match=r"row 3 of .* is one of those set aside"):
            record_in(stored, path, 3, read=read)
        with pytest.raises(tb.TallyBayesError, match=r"has 3 rows; there is no row 4"):
            record_in(stored, path, 4, read=read)

    def test_a_file_that_lacks_a_column_is_refused(self, stored):
        with pytest.raises(tb.TallyBayesError, match="has no column 'age'"):
            record_in(stored, FRAME.drop(columns="age"), 1)


class TestDrawn:
    def drawn(self, stored, n, **options):
        out = io.BytesIO()
        assert sample(stored, n, out, **options) == n
        out.seek(0)
        return pd.read_csv(out)

    @pytest.mark.parametrize("to", ["csv", "jsonl", "parquet", "arrow", "tsv"])
    def test_a_seed_gives_the_same_bytes(self, tmp_path, stored, to):
        for name, seed in (("a", 7), ("b", 7), ("c", 8)):
            sample(stored, 50, tmp_path / f"{name}.{to}", seed=seed)
        a, b, c = ((tmp_path / f"{name}.{to}").read_bytes() for name in "abc")
        assert a == b
        assert a != c

    def test_records_are_whole_and_can_be_trained_on(self, tmp_path, stored):
        path = tmp_path / "drawn.parquet"
        sample(stored, 200, path, seed=1)
        names = parquet.read_table(path).column_names
        assert names == [*stored.fitted.tally.schema.names, "label"]
        again = train(str(path), "label", ModelSpec(columns=COLUMNS, text=("mail",)), scores=False)
        assert again.stored.fitted.classes == stored.fitted.classes

    def test_given_values_are_kept(self, stored):
        given = {"status": "Married", "rooms": "2", "label": "yes", "income": "42.5"}
        found = self.drawn(stored, 30, given=given, seed=2)
        assert set(found["status"]) == {"Married"}
        assert set(found["rooms"]) == {2}
        assert set(found["label"]) == {"yes"}
        assert set(found["income"]) == {42.5}
        assert found["age"].nunique() > 20

    def test_labels_and_values_come_as_often_as_the_model_says(self):
        """Chi-squared and Kolmogorov-Smirnov tests against the parameters by hand."""
        frame = FRAME[["income", "status", "label"]]
        model = train(frame, "label", ModelSpec(alpha=0.5), scores=False).stored
        found = self.drawn(model, 4000, seed=3)
        share = frame["label"].value_counts() / len(frame)
        counts = found["label"].value_counts()
        assert stats.chisquare(counts[share.index], share * 4000).pvalue > 1e-4
        known = sorted(frame["status"].dropna().unique())
        for label in share.index:
            mine, theirs = frame[frame["label"] == label], found[found["label"] == label]
            bell = stats.norm(mine["income"].mean(), mine["income"].std(ddof=1))
            assert stats.kstest(theirs["income"], bell.cdf).pvalue > 1e-4
            n = mine["status"].value_counts().reindex(known, fill_value=0)
            smooth = (n + 0.5) / (n.sum() + 0.5 * len(known))
            seen = theirs["status"].value_counts().reindex(known, fill_value=0)
            assert stats.chisquare(seen, smooth * len(theirs)).pvalue > 1e-4

    def test_what_is_given_changes_the_other_columns_by_bayes_rule(self):
        frame = FRAME[["status", "rooms", "label"]]
        model = train(frame, "label", scores=False).stored
        found = self.drawn(model, 4000, given={"status": "Single"}, seed=4)
        posterior = model.fitted.model.posterior_of({"status": "Single"})
        counts = found["label"].value_counts().reindex(list(posterior), fill_value=0)
        wanted = np.array(list(posterior.values())) * 4000
        assert stats.chisquare(counts, wanted).pvalue > 1e-4

    def test_a_value_that_the_model_does_not_draw_is_missing(self):
        """A column in one interval has no bounds to draw from."""
        frame = FRAME[["income", "label"]].assign(age=1.0)
        model = train(frame, "label", ModelSpec({"age": tb.Bins(())}), scores=False).stored
        out = io.BytesIO()
        sample(model, 3, out, seed=0)
        assert b"nan" not in out.getvalue().lower()
        assert self.drawn(model, 3, seed=0)["age"].isna().all()

    def test_no_records_are_a_file_with_columns(self, stored):
        assert list(self.drawn(stored, 0)) == [*stored.fitted.tally.schema.names, "label"]

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"n": -1}, "records is -1"),
            ({"seed": -3}, "the seed is -3"),
            ({"given": {"label": "maybe"}}, "'maybe' is not a class"),
            ({"given": {"agee": "3"}}, "no column 'agee'; did you mean 'age'"),
            ({"to": "xlsx"}, "no output format 'xlsx'"),
        ],
        ids=["number", "seed", "class", "column", "format"],
    )
    def test_what_cannot_be_drawn_is_refused(self, stored, options, match):
        with pytest.raises(tb.TallyBayesError, match=match):
            sample(stored, **{"n": 3, "out": io.BytesIO(), **options})


def test_a_last_row_that_was_set_aside_is_not_one_that_is_not_there(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1.5,a\n2.5,b\nmany,a\n")
    stored = train({"x": [1.5, 2.5], "y": ["a", "b"]}, "y", scores=False).stored
    with pytest.raises(tb.TallyBayesError, match=r"row 3 of .*rows\.csv is one of those set aside"):
        record_in(stored, path, 3, read=ReadOptions(bad_rows="skip"))
