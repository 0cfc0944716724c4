"""Plans: what is done with one Arrow table, here or in another process."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pyarrow as pa
import pytest

from tallybayes import NaiveBayes, Tally
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.model import Fitted
from tallybayes.model.plans import CountPlan, PredictPlan
from tallybayes.schema import Schema
from workflows.mixed import assert_same_tally

ROWS = {
    "age": [41.0, None, 25.5, 33.0, 60.0, 19.0],
    "city": ["Rome", "Oslo", None, "Oslo", "Rome", "Paris"],
    "mail": ["buy now", "see you", "buy buy", "dinner", "", None],
}
LABELS = ["yes", "no", "yes", "no", "no", "yes"]
WEIGHTS = [1.0, 2.0, 0.5, 0.0, 3.0, 1.0]
TABLE = pa.table({**ROWS, "label": LABELS, "times": WEIGHTS, "id": range(6)})
PARTS = [TABLE.slice(0, 2), TABLE.slice(2, 0), TABLE.slice(2)]
SCHEMA = Schema.infer(ROWS, NaiveBayes({"mail": "text"}).fit(ROWS, LABELS).fitted_.recipe.columns,
                      target="label")  # fmt: skip


def plans(weight):
    count = CountPlan(SCHEMA, "label", weight)
    fitted = Fitted(count.tally(TABLE))
    judge = partial(CountPlan.of(fitted, None, weight).predictions, model=fitted.model)
    return count, PredictPlan.of(fitted, ("id",), proba=True), judge


@pytest.mark.parametrize("weight", [None, "times"])
def test_a_table_in_parts_is_the_table(weight):
    count, predict, judge = plans(weight)
    w = None if weight is None else WEIGHTS
    whole = Tally.of(ROWS, LABELS, w, schema=SCHEMA)
    assert_same_tally(sum(map(count.tally, PARTS)), whole)
    assert_same_tally(count.rows(TABLE).tally(), whole)
    posterior, winners = predict.model.judged(ROWS)
    written = pa.concat_tables(map(predict.table, PARTS))
    assert written.column_names == ["id", "prediction", "P(no)", "P(yes)"]
    assert written["id"].to_pylist() == list(range(6))
    assert written["prediction"].to_pylist() == [("no", "yes")[k] for k in winners]
    np.testing.assert_allclose(written["P(yes)"].to_pylist(), posterior[:, 1], rtol=1e-12)
    judged = Predictions.joined([judge(part) for part in PARTS], folds=False)
    truth = Predictions.of(LABELS, posterior, sample_weight=w)
    assert judged.score("accuracy") == pytest.approx(truth.score("accuracy"))


def test_another_process_does_the_same():
    count, predict, judge = (pickle.loads(pickle.dumps(plan)) for plan in plans("times"))
    assert pickle.loads(pickle.dumps(count)) == count
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        counted = sum(pool.map(count.tally, PARTS))
        written = pa.concat_tables(pool.map(predict.table, PARTS))
        judged = list(pool.map(judge, PARTS))
    assert_same_tally(counted, count.tally(TABLE))
    assert written["prediction"].equals(pa.concat_tables(map(predict.table, PARTS))["prediction"])
    assert sum(map(len, judged)) == 6


@pytest.mark.parametrize(
    ("column", "values", "rows", "match"),
    [
        ("label", ["yes", None, "no", None, "no", "no"], [1, 3], "label"),
        ("times", [1.0, -1.0, 1.0, None, float("inf"), 0.0], [1, 3, 4], "'times' .* no weight"),
    ],
)
@pytest.mark.parametrize("plan", ["tally", "rows", "predictions"])
def test_a_refusal_has_all_its_rows(plan, column, values, rows, match):
    count, _, judge = plans("times")
    place = TABLE.column_names.index(column)
    work = judge if plan == "predictions" else getattr(count, plan)
    with pytest.raises(TallyBayesError, match=match) as caught:
        work(TABLE.set_column(place, column, pa.array(values)))
    assert list(caught.value.rows) == rows


def test_unknown_classes_are_refused_with_all_their_rows():
    table = TABLE.slice(0, 3).set_column(3, "label", pa.array(["on", "no", None]))
    with pytest.raises(TallyBayesError) as caught:
        plans(None)[2](table)
    unknown = "the class 'on' is unknown to the model; known: 'no', 'yes'"
    missing = "the label is missing; drop the row or label it"
    assert caught.value.rows == {0: unknown, 2: missing}
    assert "column 'label' holds 'on' in row 0, which is not a class" in str(caught.value)


def test_a_column_is_not_written_twice():
    fitted = Fitted(CountPlan(SCHEMA, "label").tally(TABLE))
    with pytest.raises(TallyBayesError, match="'prediction' is to be kept, but"):
        PredictPlan.of(fitted, ("id", "prediction"))


@pytest.mark.parametrize("labels", [(False, True), (0, 1), (0.5, 1.5), (1, 2**64 - 1)])
def test_labels_keep_their_type(labels):
    tally = Tally.of({"a": ["x", "y"]}, np.array(labels, np.uint64 if labels[1] > 9 else None))
    written = PredictPlan.of(Fitted(tally)).table(pa.table({"a": ["y", "x"]}))
    assert written["prediction"].to_pylist() == [labels[1], labels[0]]
