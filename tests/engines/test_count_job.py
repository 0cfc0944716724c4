"""Jobs of engines: rows counted in parts, judged in parts, scored in parts."""

import pickle
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
import pytest

from tallybayes.engines import CountJob, JudgeJob, ScoreJob
from tallybayes.engines.count_job import BYTES_AT_ONCE, gathered
from tallybayes.engines.judge_job import FoldJob
from tallybayes.engines.score_job import Parcel
from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.explanations import explain_all
from tallybayes.metrics import Predictions
from tallybayes.model.specification import ModelSpec
from tallybayes.tallies.tally import total
from tallybayes.workflows import train
from workflows.mixed import COLUMNS, assert_same_tally, mixed

TABLE = pa.Table.from_pandas(mixed(120), preserve_index=False)
PLAIN = ModelSpec(columns=COLUMNS, drop=("times",), plain=True)


def job_of(spec=PLAIN, table=TABLE, **options):
    return pickle.loads(pickle.dumps(CountJob.of(table, "label", spec, **options)))


def cut(table, *edges):
    return [table.slice(a, b - a) for a, b in zip((0, *edges), (*edges, len(table)), strict=True)]


@pytest.mark.parametrize("weight", [None, "times"])
def test_parts_add_up_to_the_model_of_one_process(weight):
    spec = ModelSpec(columns=COLUMNS, drop=() if weight else ("times",), plain=True)
    job = job_of(spec, weight=weight)
    parts = [job.count(part.to_batches(max_chunksize=7)) for part in cut(TABLE, 0, 1, 50)]
    found = job.finish(reduce(add, parts[::-1]))
    one = train(TABLE, "label", spec, weight=weight, scores=False).stored
    assert_same_tally(found.fitted.tally, one.fitted.tally)
    assert found.fitted.recipe == one.fitted.recipe
    assert found.estimator == one.estimator
    assert found.provenance.rows == int(one.fitted.tally.rows.sum())


def test_the_best_model_weighs_a_sample_and_counts_all_rows():
    table = pa.concat_tables([TABLE, pa.Table.from_pandas(mixed(400, 1), preserve_index=False)])
    spec = ModelSpec(drop=("times", "mail", "calls", "visits", "on"))
    job = job_of(spec, table).weighed(table)
    found = job.finish(job.count(table.to_batches(max_chunksize=99))).fitted
    one = train(table, "label", spec, scores=False).stored.fitted
    assert_same_tally(found.tally, one.tally)
    records = table.slice(0, 40)
    rows = {name: records.column(name).to_pylist() for name in found.tally.schema.names}
    np.testing.assert_allclose(found.model.posterior(rows), one.model.posterior(rows), rtol=1e-6)
    assert found.recipe.calibration is not None


def test_too_few_rows_to_weigh_leave_the_job_as_it_is():
    table = TABLE.slice(0, 2)
    job = CountJob.of(table, "label", ModelSpec(only=("income",)))
    assert job.weighed(table) is job


def test_words_are_dealt_by_what_they_are_and_add_up():
    tally = job_of().count([TABLE]).tally
    other = job_of().count([TABLE.slice(30)]).tally
    hands, others = tally.dealt(3), other.dealt(3)
    assert_same_tally(reduce(add, hands), tally)
    assert sum(hand.n_words for hand in hands) == tally.n_words > 5
    assert min(hand.n_words for hand in hands) > 0
    assert not any(hand.rows.any() for hand in hands[1:])
    for hand, theirs in zip(hands, others, strict=True):
        assert (hand + theirs).n_words == hand.n_words  # the words of one are all in the other
    both = [a + pickle.loads(pickle.dumps(b)) for a, b in zip(hands, others, strict=True)]
    assert_same_tally(reduce(add, both), tally + other)


def test_a_row_that_does_not_fit_is_named_or_skipped():
    bad = TABLE.set_column(0, "income", [[np.inf, *TABLE["income"].to_pylist()[1:]]])
    bad = bad.set_column(bad.column_names.index("label"), "label",
                         [[*bad["label"].to_pylist()[:-1], None]])  # fmt: skip
    with pytest.raises(TallyBayesError, match=r"^partition 3, row 1: .*'income'.*bad_rows='skip'"):
        job_of().count(bad.to_batches(), "partition 3")
    with pytest.raises(TallyBayesError, match=r"row 119: .*label"):
        job_of().count([bad.slice(1, 50), bad.slice(51), bad.slice(119)], "here")
    found = job_of(bad_rows="skip").count(bad.to_batches(max_chunksize=11))
    assert found.rejected == 2
    assert_same_tally(found.tally, job_of().count([TABLE.slice(1, 118)]).tally)


def test_what_an_engine_cannot_do_is_refused_with_a_way_out():
    spec = ModelSpec(columns=COLUMNS, plain=True, calibration="temperature")
    with pytest.raises(TallyBayesError, match="engine cannot; leave calibration out"):
        CountJob.of(TABLE, "label", spec)
    with pytest.raises(TallyBayesError, match=r"no column 'lable'.*'label'"):
        CountJob.of(TABLE, "lable", PLAIN)
    times = TABLE.append_column("at", pa.array([0] * 120, pa.time64("us")))
    with pytest.raises(TallyBayesError, match=r"'at' holds time64.*drop=\('at',\)"):
        CountJob.of(times, "label", PLAIN)
    with pytest.raises(TallyBayesError, match="no rows"):
        CountJob.of(TABLE.slice(0, 0), "label", PLAIN)
    job = job_of()
    with pytest.raises(TallyBayesError, match="no row to learn from"):
        job.finish(job.count([]))
    one_class = TABLE.filter(pa.compute.equal(TABLE["label"], "no"))
    with pytest.warns(TallyBayesWarning, match="has the label 'no'"):
        job.finish(job.count([one_class]))


def test_dates_are_laid_out_in_every_partition():
    stamps = pa.array(np.arange(120) * 5 * 3_600_000_000, pa.timestamp("us"))
    table = TABLE.append_column("at", stamps)
    job = CountJob.of(table, "label", PLAIN)
    fitted = job.finish(job.count([table.slice(0, 50), table.slice(50)])).fitted
    assert fitted.tally.schema.inputs[-1] == "at"
    assert fitted.tally.schema.names[-2:] == ("at.hour", "at.elapsed")


def test_small_batches_are_counted_together():
    batches = TABLE.to_batches(max_chunksize=5)
    (table,) = gathered(batches)
    assert table.equals(TABLE.combine_chunks()) or table.num_rows == 120
    large = pa.table({"a": np.zeros(BYTES_AT_ONCE // 8)})
    assert [part.num_rows for part in gathered([large, large, large.slice(0, 3)])] == [
        len(large), len(large), 3
    ]  # fmt: skip
    assert list(gathered([])) == []


def test_parts_are_scored_as_the_whole_with_their_reasons():
    stored = train(TABLE, "label", PLAIN, scores=False).stored
    job = pickle.loads(pickle.dumps(ScoreJob.of(stored, reasons=3)))
    names = list(stored.fitted.tally.schema.names)
    records = TABLE.select(names[::-1])
    found = [row for part in cut(records, 50) for row in job.score(part).to_pylist()]
    rows = {name: records.column(name).to_pylist() for name in names}
    truth = explain_all(stored.fitted.model, rows)
    assert [row["prediction"] for row in found] == truth.decisions.tolist()
    np.testing.assert_allclose([row["probability"] for row in found], truth.posterior, rtol=1e-10)
    bits, places = truth.evidence(), {name: k for k, name in enumerate(truth.names)}
    assert [[why["column"] for why in row["reasons"]] for row in found] == [
        [name for name in strongest if bits[k, places[name]] != 0.0]
        for k, strongest in enumerate(truth.strongest(3).tolist())
    ]
    for k, row in enumerate(found):
        for why in row["reasons"]:
            assert why["bits"] == pytest.approx(bits[k, places[why["column"]]], rel=1e-10)
    bare = ScoreJob.of(stored).score(records).to_pylist()
    assert [row["prediction"] for row in bare] == [row["prediction"] for row in found]
    assert "reasons" not in bare[0]


def test_a_process_reads_a_model_once():
    stored = train(TABLE, "label", PLAIN, scores=False).stored
    first, second = (pickle.loads(pickle.dumps(Parcel.of(stored))) for _ in range(2))
    assert first is not second
    assert first.stored is second.stored
    other = train(TABLE.slice(1), "label", PLAIN, scores=False).stored
    assert Parcel.of(other) != first


def test_one_class_needs_no_reasons():
    table = pa.table({"a": [1.0, 2.0], "label": ["x", "x"]})
    with pytest.warns(TallyBayesWarning, match="can give no other answer"):
        stored = train(table, "label", ModelSpec(plain=True), scores=False).stored
    assert (
        ScoreJob.of(stored, 3).score(table.select(["a"])).to_pylist()
        == [{"prediction": "x", "probability": [1.0], "reasons": []}] * 2
    )


ALPHAS = (0.1, 1.0, 30.0)


def test_folds_are_judged_by_the_counts_of_the_others_for_every_alpha():
    fold = np.arange(120) % 3
    table = TABLE.append_column("fold", pa.array(fold))
    jobs = [job_of(ModelSpec(columns=COLUMNS, drop=("times",), plain=True, alpha=alpha))
            for alpha in ALPHAS]  # fmt: skip
    fold_job = pickle.loads(pickle.dumps(FoldJob(jobs[0], "fold", 4)))
    counts = total(part for piece in cut(table, 10, 71) for part in fold_job.parts([piece], "here"))
    assert counts.folds[3] is None
    assert_same_tally(counts.whole.tally, jobs[0].count([TABLE]).tally)
    recipes = [job.fitted(counts.whole.tally).recipe for job in jobs]
    judge = JudgeJob.held_out(counts, jobs[0], recipes, "fold")
    judge = pickle.loads(pickle.dumps(judge))
    found = total(part for piece in cut(table, 5) for part in judge.parts([piece]))
    for way, job in enumerate(jobs):
        parts = []
        for k in range(3):
            rest = TABLE.take(pa.array(np.flatnonzero(fold != k)))
            model = job.finish(job.count([rest])).fitted.model
            held = TABLE.take(pa.array(np.flatnonzero(fold == k)))
            parts.append(job.plan.predictions(held, model))
        truth = Predictions.joined(parts, folds=False)
        assert len(found.folds(way)) == 3
        for name in ("log_loss", "accuracy", "brier_score", "f1_macro"):
            assert found.whole(way).score(name) == pytest.approx(truth.score(name), rel=1e-9)
            by_fold = [fold.score(name) for fold in found.folds(way)]
            assert by_fold == pytest.approx([part.score(name) for part in parts], rel=1e-9)


def test_a_class_of_one_fold_only_is_no_error_and_one_fold_for_all_is():
    table = TABLE.slice(0, 60).append_column("fold", pa.array([0.0, 1.0] * 30))
    rare = ["rare", *table["label"].to_pylist()[1:]]
    table = table.set_column(table.column_names.index("label"), "label", [rare])
    job = job_of(ModelSpec(only=("income", "status"), plain=True), table)
    counts = total(FoldJob(job, "fold", 2).parts([table], ""))
    recipe = job.fitted(counts.whole.tally).recipe
    found = total(JudgeJob.held_out(counts, job, [recipe], "fold").parts([table])).whole()
    assert found.zero == 1
    assert found.classes == ("no", "rare", "so", "yes")
    alone = total(
        FoldJob(job, "fold", 2).parts([table.filter(pa.compute.equal(table["fold"], 0))], "")
    )
    with pytest.raises(TallyBayesError, match="all rows are in one fold"):
        JudgeJob.held_out(alone, job, [recipe], "fold")
