"""What is said of the data before anything is made of it: families, gaps, doubtful columns."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.model.specification import ModelSpec
from tallybayes.model.summary import MOST_COLUMNS, ModelSummary
from tallybayes.workflows.training import train
from workflows.mixed import features, mixed, write

FRAME = mixed(120, seed=13)
COLUMNS = {
    "size": "log_normal",
    "age": "bins",
    "on": "bernoulli",
    "visits": tb.Poisson(bag="v"),
    "calls": tb.Multinomial(bag="c"),
    "times": tb.Multinomial(bag="c"),
    "mail": "text",
}


@pytest.mark.parametrize("each", ["csv", "jsonl", "parquet"])
def test_missing_values_are_counted_as_pandas_counts_them(tmp_path, small_blocks, each):
    gaps = FRAME.copy()
    rng = np.random.default_rng(0)
    for name in ("size", "visits", "calls", "mail", "owner"):
        gaps[name] = gaps[name].astype(object).mask(rng.random(len(gaps)) < 0.3, None)
    path = write(gaps, tmp_path / f"rows.{each}")
    found = ModelSummary(
        train(path, "label", ModelSpec(columns=COLUMNS), scores=False).stored.fitted
    )
    # (a text without any word, such as "-", is there all the same)
    assert {each.name: each.missing for each in found.columns()} == (
        features(gaps).isna().sum().to_dict()
    )
    assert dict(found.classes) == FRAME["label"].value_counts().to_dict()


def test_families_and_reasons_are_named():
    trained = train(FRAME, "label", ModelSpec(columns=COLUMNS, alpha=0.5), scores=False)
    found = {each.name: each for each in ModelSummary(trained.stored.fitted).columns()}
    assert found["income"].family == "Gaussian()"
    assert found["income"].why == "decimal numbers"
    assert found["status"].family == "Categorical(alpha=0.5)"
    assert found["owner"].why == "booleans"
    assert found["mail"].family.startswith("Text(")
    assert found["mail"].why == "declared"
    assert re.match(r"integers, 4 distinct values in 120 rows", found["rooms"].why)


def test_the_text_has_a_line_for_every_column():
    said = str(ModelSummary(train(FRAME, "label", scores=False).stored.fitted)).splitlines()
    assert said[0].startswith("120 rows, to predict 'label': ")
    assert said[1].split() == ["column", "family", "missing", "why"]
    assert [line.split()[0] for line in said[2:]] == list(features(FRAME).columns)
    gaps = int(FRAME["status"].isna().sum())
    (line,) = [line for line in said if line.startswith("status")]
    assert f" {gaps} " in line


def test_many_columns_and_classes_are_cut_short():
    wide = pd.DataFrame({f"x{k}": np.arange(40.0) for k in range(MOST_COLUMNS + 7)})
    wide["label"] = [f"c{k % 12}" for k in range(40)]
    said = ModelSummary(train(wide, "label", scores=False).stored.fitted)
    assert str(said).splitlines()[-1] == "... 7 more"
    assert str(said).split("\ncolumn ")[0].endswith(", ...")
    assert len(said.to_dict()["columns"]) == MOST_COLUMNS + 7


def test_all_of_it_is_json():
    found = ModelSummary(
        train(FRAME, "label", ModelSpec(columns=COLUMNS), scores=False).stored.fitted
    )
    shown = json.loads(json.dumps(found.to_dict()))
    assert shown["rows"] == 120
    assert shown["target"] == "label"
    assert [each["label"] for each in shown["classes"]] == ["no", "so", "yes"]


def test_a_chosen_family_says_why_it_was_chosen():
    trained = train(FRAME, "label", ModelSpec({"size": "best"}, drop=("mail",)))
    found = {each.name: each.why for each in ModelSummary(trained.stored.fitted).columns()}
    model = tb.NaiveBayes({"size": "best"}).fit(features(FRAME, "mail"), FRAME["label"])
    assert model.fitted_.recipe.reasons["size"] in found["size"]


class TestNames:
    """Columns that tell one row from another tell nothing of other rows."""

    NAMED = FRAME.assign(id=[f"customer {k}" for k in range(120)])

    def test_a_column_of_names_is_warned_of(self, tmp_path):
        path = write(self.NAMED, tmp_path / "rows.csv")
        with pytest.warns(
            tb.TallyBayesWarning, match=r"column 'id' has 120 different .*drop=\('id',\)"
        ):
            train(path, "label", scores=False)

    @pytest.mark.parametrize(
        "spec",
        [ModelSpec(drop=("id",)), ModelSpec(text=("id",)), ModelSpec({"id": "categorical"})],
        ids=["dropped", "text", "declared"],
    )
    def test_unless_the_user_has_said_what_it_is(self, spec):
        train(self.NAMED, "label", spec, scores=False)

    def test_few_rows_are_not_warned_of(self):
        train(self.NAMED.head(20)[["id", "label"]], "label", scores=False)


def test_a_column_that_numbers_the_rows_is_pointed_at(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{k},{k % 7 + 0.5},{'ab'[k % 2]}" for k in range(100, 160)]
    path.write_text("\n".join([",x,y", *lines, ""]))
    with pytest.warns(tb.TallyBayesWarning, match=r"'index' numbers the rows.*drop=\('index',\)"):
        train(path, "y")
    assert train(path, "y", ModelSpec(drop=("index",))).stored.fitted.tally.schema.names == ("x",)
