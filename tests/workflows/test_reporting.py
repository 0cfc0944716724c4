"""Reports on stored models: what is judged, what is kept, and what is written."""

import re

import numpy as np
import pytest

from tallybayes.model.specification import ModelSpec
from tallybayes.report.contents import MOST_ROWS
from tallybayes.sources.formats import ReadOptions
from tallybayes.workflows import reporting
from tallybayes.workflows.evaluation import evaluate_model
from tallybayes.workflows.reporting import report
from tallybayes.workflows.training import train
from workflows.mixed import mixed, write

pytestmark = pytest.mark.usefixtures("words_only")

TEST = mixed(130, seed=6)


def _report(*args, **kw):
    return report(*args, **kw).page


@pytest.fixture(scope="module")
def stored():
    frame = mixed(150, seed=5)
    return train(frame, "label", ModelSpec(text=("mail",)), scores=False).stored


@pytest.fixture
def given(monkeypatch):
    """What the report is made from."""
    found = {}

    def spy(fitted, provenance, **options):
        found.update(options)
        return made(fitted, provenance, **options)

    made = reporting.model_report
    monkeypatch.setattr(reporting, "model_report", spy)
    return found


def test_without_data_there_are_no_scores(stored):
    made = _report(stored)
    assert made.scores is None
    assert made.warnings == ()
    assert "this report was made without data" in made.html


@pytest.mark.parametrize(("each", "weight"), [("csv", "calls"), ("parquet", None)])
def test_the_scores_are_those_of_evaluate(tmp_path, stored, small_blocks, each, weight):
    path = write(TEST, tmp_path / f"test.{each}")
    made = _report(stored, data=path, weight=weight)
    wanted = evaluate_model(stored, path, weight=weight).result
    assert made.scores.scores == pytest.approx(wanted.scores, nan_ok=True)
    assert made.scores.confusion == wanted.confusion
    assert f"On {len(TEST)} labelled rows" in made.html


def test_the_rows_that_are_kept_are_drawn_from_all_in_order(
    tmp_path, stored, small_blocks, monkeypatch, given
):
    monkeypatch.setattr(reporting, "MOST_ROWS", 40)
    path = write(TEST, tmp_path / "test.csv")
    made = _report(stored, data=path)
    (X, places), judged = given["sample"], given["predictions"]
    assert len(places) == X.n_rows == 40
    assert len(judged) == len(TEST)
    assert places.tolist() == sorted(set(places.tolist()))
    posterior = stored.fitted.model.posterior(X)
    np.testing.assert_allclose(posterior, judged.proba[places], rtol=1e-9)
    assert "40 drawn at random" in made.html
    assert made.scores.rows == len(TEST)


def test_few_rows_are_all_kept(tmp_path, stored, given):
    report(stored, data=write(TEST, tmp_path / "test.csv"))
    assert given["sample"].places.tolist() == list(range(len(TEST)))
    assert len(TEST) <= MOST_ROWS


def test_a_table_in_memory_and_another_name_of_the_labels_will_do(stored):
    other = TEST.rename(columns={"label": "truth"})
    made = _report(stored, data=other, target="truth", names=["my rows"])
    assert made.scores.accuracy == evaluate_model(stored, TEST).result.accuracy
    assert "my rows" in made.html


def test_rows_that_do_not_fit_are_set_aside_and_said(tmp_path, stored):
    bad = TEST.astype({"income": object})
    bad.loc[[3, 60], "income"] = "much"
    path = write(bad, tmp_path / "bad.csv")
    reported = report(stored, data=path, read=ReadOptions(bad_rows="skip"))
    made = reported.page
    assert reported.rejected.count == 2
    assert "2 bad rows were set aside" in made.html
    assert made.scores.rows == len(TEST) - 2


def test_the_page_is_written_whole_in_place_of_an_old_one(tmp_path, stored):
    out = tmp_path / "report.html"
    out.write_text("old")
    made = _report(stored, out, title="Labels")
    assert out.read_text(encoding="utf-8") == made.html
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert made.title == "Labels"


def test_a_page_that_cannot_be_made_leaves_the_old_one(tmp_path, stored):
    out = tmp_path / "report.html"
    out.write_text("old")
    with pytest.raises(ValueError, match="no column 'label' for what is right"):
        report(stored, out, data=TEST.drop(columns="label"))
    assert out.read_text() == "old"


def test_the_same_model_and_data_make_the_same_page(tmp_path, stored):
    path = write(TEST, tmp_path / "test.csv")
    pages = [report(stored, data=path).page.html for _ in range(2)]
    without_date = [re.sub(r"This page was made</dt><dd>[^<]*", "", page) for page in pages]
    assert without_date[0] == without_date[1]
