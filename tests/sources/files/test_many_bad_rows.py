"""However many rows of a file do not fit: each is rejected, and the others count."""

import pytest

from sources.files.reading import message_of
from tallybayes.model.specification import ModelSpec
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows.evaluation import evaluate
from tallybayes.workflows.prediction import predict
from tallybayes.workflows.training import train

N = 20_000
SKIP, REPORT = ReadOptions(bad_rows="skip"), ReadOptions(bad_rows="report")


@pytest.fixture
def saved(tmp_path):
    """Write rows of which every fifth is bad in one column."""

    def save(**bad):
        path = tmp_path / "rows.csv"
        good = {"x": "1.5", "w": "2", "s": "u", "y": "a"}
        lines = [
            ",".join({**good, "y": "ab"[row % 2], **(bad if row % 5 == 3 else {})}.values())
            for row in range(N)
        ]
        path.write_text("\n".join([",".join(good), *lines]))
        return path

    return save


REFUSED_IN_TRAINING = {
    "a zero has no logarithm": ({"x": "0"}, {"x": "log_normal"}, "column 'x' holds 0.0, but only"),
    "a count is negative": ({"x": "-1"}, {"x": "poisson"}, "column 'x' is -1.0; counts must be"),
    "a number is infinite": ({"x": "inf"}, {"x": "gaussian"}, "column 'x' holds infinity; replace"),
    "a number is too large": ({"x": "1e200"}, {"x": "gaussian"}, "column 'x' holds numbers too"),
    "a weight is negative": ({"w": "-2"}, {}, "column 'w' is missing, negative or too large"),
    "a label is missing": ({"y": ""}, {}, "the label is missing; drop the row or label it"),
}


@pytest.mark.parametrize(
    ("bad", "columns", "why"), REFUSED_IN_TRAINING.values(), ids=REFUSED_IN_TRAINING
)
def test_thousands_of_rows_that_the_counting_refuses_are_rejected(saved, bad, columns, why):
    path = saved(**bad)
    spec = ModelSpec(columns={"x": "gaussian", "s": "categorical", **columns})
    trained = train(path, "y", spec, weight="w", read=REPORT, scores=False)
    assert trained.stored.fitted.tally.rows.sum() == N - N // 5
    assert trained.rejected.count == len(trained.rejected.lines) == N // 5
    assert trained.rejected.lines[1].startswith(f"{path}, row 9: {why}")
    said = message_of(lambda: train(path, "y", spec, weight="w", scores=False))
    assert said.startswith(f"{path}, row 4: {why}")


REFUSED_IN_SCORING = {
    "a class is unknown": ({"y": "c"}, "the class 'c' is unknown to the model; known: 'a', 'b'"),
    "a weight is negative": ({"w": "-2"}, "column 'w' is missing, negative or too large"),
    "a category is unseen": ({"s": "v"}, "column 's' holds 'v', which was never counted"),
}


@pytest.mark.parametrize(("bad", "why"), REFUSED_IN_SCORING.values(), ids=REFUSED_IN_SCORING)
def test_thousands_of_rows_that_the_scoring_refuses_are_rejected(saved, bad, why):
    spec = ModelSpec(drop=("w",), unseen="error")
    stored = train(saved(), "y", spec, scores=False).stored
    path = saved(**bad)
    evaluated = evaluate(stored, path, weight="w", read=REPORT)
    aside = evaluated.rejected
    assert evaluated.result.confusion.counts.sum() == 2.0 * (N - N // 5)
    assert aside.lines[-1].startswith(f"{path}, row {N - 1:,}: {why}")
    assert aside.count == len(aside.lines) == N // 5


def test_thousands_of_rows_that_cannot_be_predicted_are_rejected(saved, tmp_path):
    stored = train(saved(), "y", ModelSpec(drop=("w",), unseen="error"), scores=False).stored
    out = tmp_path / "out.csv"
    predicted = predict(stored, saved(s="v"), out, read=SKIP)
    assert (predicted.rows, predicted.rejected.count) == (N - N // 5, N // 5)
    assert out.read_text().count("\n") == 1 + predicted.rows
