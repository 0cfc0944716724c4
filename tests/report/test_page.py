"""The page of a report: complete, self-contained, right for every family and for rows judged."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import tallybayes as tb
from lectures.test_loan import CHEAT, TABLE as LOAN
from tallybayes import modelfile
from tallybayes.errors import CannotDrawError
from tallybayes.explanations import counterfactuals
from tallybayes.explanations.explanation import record_in
from tallybayes.metrics import score_intervals
from tallybayes.model import Fitted, Recipe
from tallybayes.modelfile import Provenance, Stored, save
from tallybayes.report import contents
from tallybayes.report.contents import Contents, evaluate
from tallybayes.report.page import POLICY, model_report
from tallybayes.sources import as_source
from tiers import some
from validation.registry import setting_of
from workflows.mixed import features, mixed

pytestmark = pytest.mark.usefixtures("words_only")

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


class Reader(HTMLParser):
    """Check that every element is closed in its turn; collect text, elements and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def read(report):
    reader = Reader()
    reader.feed(report.html)
    reader.close()
    assert reader.open == []
    return reader


def text_of(markup):
    reader = Reader()
    reader.feed(f"<p>{markup}</p>")
    return reader.text


def cells(report, name):
    body = re.search(rf'data-name="{name}">.*?<tbody>(.*?)</tbody>', report.html, re.DOTALL)[1]
    lines = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    of_line = r"<(td|th)[^>]*>(.*?)</\1>"
    return [[text_of(cell) for _, cell in re.findall(of_line, line, re.DOTALL)] for line in lines]


def loan(**options):
    return Fitted(tb.Tally.of(LOAN, CHEAT, target="cheat"), Recipe(**options))


def judged(fitted, X, y, weights=None):
    predictions, sample = evaluate(fitted, as_source(X), y, weights)
    return {"predictions": predictions, "sample": sample}


@pytest.fixture(scope="module")
def page():
    return model_report(
        loan(), Provenance.now("loan.csv", 10), data=["test.csv"], **judged(loan(), LOAN, CHEAT)
    )


def test_the_page_is_sound_and_needs_nothing_else(page):
    found = read(page)
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(found.tags)
    assert ("content", POLICY) in found.attributes
    for name, value in found.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "xlink:href", "action"):
            assert value.startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"url\((?!#)|@import", page.html)


def test_the_summary_says_how_good_it_is_and_how_good_the_simplest_answer(page):
    text = read(page).text
    assert "On 10 labelled rows, each left out and judged by the model of all others," in text
    assert "always answering No would be right for 70.0 %" in text


def test_without_data_it_says_how_to_get_scores():
    report = model_report(loan(), path="loan.tally")
    text = read(report).text
    assert "tallybayes report loan.tally TEST.csv -o report.html" in text
    assert "drawn from the model itself, with seed 0" in text
    assert report.scores is None


def test_the_examples_are_the_most_confident_ones_and_the_closest_call():
    fitted = loan()
    y = [*CHEAT[:-1], "No"]  # so that the last row is a mistake
    report = model_report(fitted, **judged(fitted, LOAN, y))
    found = dict(re.findall(r"<h3>(The [^<]*)</h3>\s*<p>Row (\d+) of the data", report.html))
    rows = {title: int(number) - 1 for title, number in found.items()}
    assert len(set(rows.values())) == 3
    sure, wrong = rows["The most confident that was right"], rows["The most confident mistake"]
    proba, winners = fitted.model.judged(LOAN)
    right = winners == np.array([("No", "Yes").index(label) for label in y])
    assert right[sure]
    assert not right[wrong]
    assert proba[sure].max() == proba[right].max()  # no right answer was more probable
    assert proba[wrong].max() == proba[~right].max()
    gap = np.abs(proba[:, 0] - proba[:, 1])
    others, closest = np.setdiff1d(np.arange(10), [sure, wrong]), rows["The closest call"]
    assert gap[closest] == gap[others].min()
    low, high = np.sort(proba[closest])
    assert f"No two classes were closer: {high:.4f} against {low:.4f}." in read(report).text


def test_rows_that_were_not_judged_are_counted_in_the_numbers_of_examples(page):
    fitted = loan()
    given = judged(fitted, LOAN, CHEAT)
    all_judged = re.findall(r"Row (\d+) of the data", page.html)
    numbers = np.arange(10) * 3 + 7
    given["predictions"] = replace(given["predictions"], rows=numbers)
    found = re.findall(r"Row (\d+) of the data", model_report(fitted, **given).html)
    assert len(all_judged) >= 2
    assert found == [str(numbers[int(row) - 1] + 1) for row in all_judged]


@pytest.fixture(scope="module")
def shapes():
    """Numbers of odd shapes, a constant column, one never seen, counts, and two alike."""
    rng = np.random.default_rng(4)
    n = 400
    y = np.repeat(["a", "b"], n // 2)
    far = np.where(y == "a", 0.0, 1.0)
    X = {
        "skewed": np.exp(rng.normal(far, 1.0)),
        "twice": rng.normal(far, 1.0),
        "constant": np.ones(n),
        "never": np.full(n, np.nan),
        "calls": rng.poisson(1.0 + far),
    }
    X["again"] = X["twice"]
    kinds = {"calls": tb.Count(), "never": tb.Numeric()}
    schema = tb.Schema.infer(as_source(X), columns=kinds)
    fitted = Fitted(tb.Tally.of(X, y, schema=schema), Recipe((), {"calls": tb.Poisson()}))
    return model_report(fitted, **judged(fitted, X, y))


def test_the_family_that_would_fit_is_named_and_nothing_else(shapes):
    lines = {line[0]: line for line in cells(shapes, "normality")}
    assert {line[-1] for line in lines.values()} <= {"", "bins", "log_normal", "gaussian"}
    assert lines["skewed"][-1] != ""
    assert lines["skewed"][-2].startswith("skewed to the right")


def test_columns_that_the_model_leaves_out_are_named_and_not_drawn(shapes):
    section = shapes.html.partition('<section id="columns"')[2].partition("</section>")[0]
    assert section.count("<svg") == 4
    text = text_of(re.sub(r"<svg.*?</svg>", "", section, flags=re.DOTALL))
    assert "the model leaves them out: constant and never ." in text
    assert "Outlines and diamonds are what the data has" in text


def test_dependence_that_was_not_measured_is_not_denied():
    first = {name: values[:1] for name, values in LOAN.items()}
    one = read(model_report(loan(), **judged(loan(), first, CHEAT[:1]))).text
    assert "accuracy misleads" in one
    assert "On 1 labelled row it was right" in one
    assert "This was checked on 1 row." in one
    assert "Too few rows to tell." in one
    assert "No two columns do so much" not in one
    rng = np.random.default_rng(0)
    X = {"p": rng.normal(size=300), "q": rng.normal(size=300)}
    y = np.repeat(["a", "b"], 150)
    fitted = Fitted(tb.Tally.of(X, y))
    many = read(model_report(fitted, **judged(fitted, X, y))).text
    assert "No two columns do so much that it matters." in many


def test_columns_that_belong_together_are_drawn_and_listed_what_gains_most_first(monkeypatch):
    from tallybayes.plots import JointDisplay

    seen, plot = [], JointDisplay.plot
    monkeypatch.setattr(
        JointDisplay, "plot", lambda self: seen.append(self.joint.subject) or plot(self)
    )
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (600, 4))
    X = {f"<b>{name}": np.array(["n", "y"])[bits[:, k]] for k, name in enumerate("abcd")}
    rare = (bits[:, 2] == bits[:, 3]) & (rng.random(600) < 0.3)
    model = tb.SemiNaiveBayes().fit(X, (bits[:, 0] == bits[:, 1]) ^ rare)
    report = model_report(model.fitted_)
    assert "Columns that belong together" in read(report).text
    of = model.model_
    gains = [of.gain(each) for each in of.joints()]
    assert gains == sorted(gains, reverse=True)
    lines = cells(report, "joints")
    assert [line[0] for line in lines] == [" with ".join(each.reads) for each in of.joints()]
    assert seen == [each.subject for each in of.joints()][:4]
    assert "Columns that belong together" not in model_report(loan()).html


def test_the_nomogram_says_what_its_probabilities_leave_out():
    rng = np.random.default_rng(2)

    def said(k):
        y = np.arange(40) % k
        X = {"p": rng.normal(y)}
        return read(model_report(Fitted(tb.Tally.of(X, y)))).text

    assert "as if there were no others" not in said(2)
    assert "two most probable of 6 classes, as if there were no others" in said(6)


def test_reports_made_at_once_are_alike_and_leave_settings_alone(monkeypatch):
    import matplotlib as mpl

    monkeypatch.undo()  # draw

    before = mpl.rcParams["font.size"]
    with mpl.rc_context({"font.size": 13.0}):
        with ThreadPoolExecutor(2) as pool:
            pages = list(pool.map(lambda _: model_report(loan()).html, range(2)))
        assert mpl.rcParams["font.size"] == 13.0
    assert mpl.rcParams["font.size"] == before
    dated = r"This page was made</dt><dd>[^<]*"
    assert len({re.sub(dated, "", page) for page in pages}) == 1


# one of each family, and where something is missing, constant, impossible, sparse or hashed
OF_EVERY_FAMILY = (
    "gaussian, constant column",
    "log-normal",
    "categories, unsmoothed",
    "m-estimate, p by both",
    "bins, alpha 1.0",
    "sparse bernoulli",
    "multinomial, missing values",
    "complement",
    "poisson, unsmoothed",
    "text, event=multinomial",
    "text, event=bernoulli",
    "mixed, with families of their own",
    "two texts",
)


@pytest.mark.parametrize("name", some(OF_EVERY_FAMILY, OF_EVERY_FAMILY[::3]))
def test_models_of_every_family_have_a_report_with_data_and_without(name):
    setting = setting_of(name)
    rows = setting.examples(40)
    X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
    tally = tb.Tally.of(X, y, schema=setting.schema)
    fitted = Fitted(tally, Recipe(setting.families, setting.columns))
    for report in (model_report(fitted), model_report(fitted, **judged(fitted, X, y))):
        assert set(read(report).tags) >= {"table", "svg", "h1", "nav"}
        without_pictures = re.sub(r"<svg.*?</svg>", "", report.html, flags=re.DOTALL)
        words = {word.strip(".,;:") for word in text_of(without_pictures).split()}
        assert not {"nan", "None", "inf", "-inf"} & words


def test_pictures_of_columns_have_the_weights_of_their_rows(monkeypatch):
    from tallybayes.plots import ColumnDisplay

    seen, made = [], ColumnDisplay.from_estimator.__func__

    def spy(cls, *args, **options):
        seen.append(options["sample_weight"].tolist())
        return made(cls, *args, **options)

    monkeypatch.setattr(ColumnDisplay, "from_estimator", classmethod(spy))
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b"], 150)
    X = {"p": np.exp(rng.normal(size=300))}
    weights = rng.uniform(0.5, 1.0, 300)
    fitted = Fitted(tb.Tally.of(X, y, weights))
    model_report(fitted, **judged(fitted, X, y, weights))
    assert seen == [weights.tolist()]


def one_class():
    return Fitted(tb.Tally.of({"a": ["x", "y"]}, ["p", "p"])), {"a": ["x"]}, ["p"]


def impossible():
    columns = {f"{letter}{k}": [*"xxyy"] for letter in "ab" for k in range(16)}
    record = {name: ["x" if name[0] == "a" else "y"] for name in columns}
    fitted = Fitted(tb.Tally.of(columns, [*"nnyy"]), Recipe((tb.Categorical(alpha=0),)))
    return fitted, record, ["n"]


def of_numbers(y):
    X = {"a": [1, 2, 1, 2], "b": [True, False, True, True]}
    return Fitted(tb.Tally.of(X, y)), X, y


def huge_counts(family):
    X = np.array([[1e19, 1.0], [2e19, 2.0], [3e19, 1.0], [5e19, 2.0]])
    fitted = Fitted(tb.Tally.of(X, [*"aabb"], columns=family.kind), Recipe((family,)))
    return fitted, X, [*"aabb"]


@pytest.mark.filterwarnings("ignore:row .* impossible")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (one_class, "only ever p"),
        (impossible, "impossible"),
        (lambda: (loan(declared_classes=("Maybe", "No", "Yes")), LOAN, CHEAT), "Maybe"),
        (lambda: of_numbers([True, True, False, False]), "False or True"),
        (lambda: of_numbers([0.5, 0.5, 1.5, 1.5]), "0.5 or 1.5"),
        (lambda: huge_counts(tb.Poisson()), "2e+19"),
        (lambda: huge_counts(tb.Multinomial()), "2e+19"),
    ],
    ids=["one class", "impossible", "no rows", "truths", "numbers", "rates", "shares"],
)
def test_unusual_models_have_a_report_with_data_and_without(make, said):
    fitted, X, y = make()
    assert "How good it is, this report cannot say" in read(model_report(fitted)).text
    assert said in read(model_report(fitted, **judged(fitted, X, y))).text


def test_the_fingerprint_is_that_of_the_model_file(tmp_path):
    import hashlib

    made = Provenance.now("loan.csv", 10)
    file = tmp_path / "loan.tally"
    save(file, Stored(loan(), made))
    wanted = hashlib.sha256(file.read_bytes()).hexdigest()
    assert wanted in model_report(loan(), made, path=str(file)).html


def test_it_prints_as_a_line_and_shows_in_a_frame(page):
    assert str(page).startswith("Naive Bayes for cheat: 10 sections, ")
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert page.to_dict()["bytes"] == len(page.html.encode("utf-8"))
    assert page.to_dict()["scores"]["accuracy"] == page.scores.accuracy


def test_caveats_of_counterfactuals_are_shown():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], [200, 20])
    fitted = Fitted(tb.Tally.of({"x": rng.normal(3.0 * (y == "b"), 1.0)}, y))
    report = model_report(fitted, **judged(fitted, {"x": [-6.0]}, ["a"]))
    found = counterfactuals(fitted, {"x": -6.0})
    assert str(found[0]).endswith("standard deviations")
    assert str(found[0]) in read(report).text
    for note in found.notes:
        assert note in read(report).text


def test_rows_that_were_learned_from_are_left_out_in_turn():
    model = tb.NaiveBayes().fit(LOAN, CHEAT)
    report, held = model.report(LOAN, CHEAT), model.cross_val(LOAN, CHEAT, folds="loo")
    assert report.scores.scores == pytest.approx(held.scores(), rel=1e-12, nan_ok=True)
    assert report.scores.training["accuracy"] == 1.0
    text = read(report).text
    assert f"it was right for {100 * held.score('accuracy'):.1f} %" in text
    assert "On the rows as the model has seen them it is right for 100.0 %" in text
    accuracy = cells(report, "scores")[0]
    assert [accuracy[1], accuracy[3]] == [f"{held.score('accuracy'):.4f}", "1.0000"]
    limits = score_intervals(held)
    for name, value, interval, *_ in cells(report, "scores"):
        key = name.replace(" ", "_")
        assert value == (f"{x:.4f}" if np.isfinite(x := held.score(key)) else "-")
        if " to " in interval:
            assert interval == " to ".join(f"{limit:.4f}" for limit in limits[key])
    shown = [[int(cell.split()[0]) for cell in line[1:]] for line in cells(report, "confusion")]
    assert shown == held.confusion.counts.tolist()
    others = model.report({name: column[:5] for name, column in LOAN.items()}, CHEAT[:5])
    assert others.scores.training is None


def test_a_calibrated_model_says_that_rows_it_has_learned_from_flatter_it():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b"], 30)
    X = {"p": rng.normal(y == "b")}
    report = tb.NaiveBayes(calibration="temperature").fit(X, y).report(X, y)
    assert "their scores flatter it" in (text := read(report).text)
    assert "cross_val(X, y, folds=10), or tallybayes evaluate DATA --target NAME --folds 10" in text


def test_no_lock_is_held_while_examples_are_worked_out(monkeypatch):
    from tallybayes.plots.svg import DRAWING
    from tallybayes.report import contents

    asked = []

    def free(of):
        def run(*given, **options):
            asked.append(not DRAWING._is_owned())
            return of(*given, **options)

        return run

    for name in ("explain", "working", "counterfactuals"):
        monkeypatch.setattr(contents, name, free(getattr(contents, name)))
    model_report(loan(), **judged(loan(), LOAN, CHEAT))
    assert asked
    assert all(asked)


def test_what_users_wrote_is_escaped_and_cannot_turn_the_text_around():
    name = "<script>\u202e\x01\udc80"
    fitted = Fitted(tb.Tally.of({name: [*"xxyy"]}, [*"aabb"], target=f"{name} too"))
    report = model_report(fitted, title=name, path=name, data=[name])
    assert "<script" not in report.html
    assert not re.search("[\u202e\x01\udc80]", report.html)
    report.html.encode("utf-8")


COLUMNS = {
    "mail": tb.Text(),
    "on": "bernoulli",
    "visits": "poisson",
    "calls": tb.Count(),
    "age": tb.Intervals((30.0, 50.0)),
    "rooms": "categorical",
}


@pytest.fixture(scope="module")
def frame():
    return mixed(200, seed=3)


@pytest.fixture(scope="module")
def model(frame):
    return tb.NaiveBayes(COLUMNS).fit(features(frame), frame["label"])


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(contents, "MOST_ROWS", 30)


def test_rows_learned_in_parts_are_known_again_and_others_are_not_counted(frame, monkeypatch):
    X, y = features(frame), frame["label"]
    parts = tb.NaiveBayes(COLUMNS)
    for rows in (slice(120, 200), slice(0, 120)):
        parts.partial_fit(X[rows], y[rows])
    assert evaluate(parts.fitted_, parts.source_of(X), y)[0].held_out == "leave-one-out"
    monkeypatch.setattr("tallybayes.tallies.labelled_rows.encoded", None)
    some = evaluate(parts.fitted_, parts.source_of(X[:50]), y[:50])[0]
    assert some.held_out == "test set"


def test_as_many_other_rows_of_each_class_are_not_taken_for_those_learned_from(frame, model):
    X = features(frame).assign(visits=lambda rows: rows["visits"] + 1)
    assert evaluate(model.fitted_, model.source_of(X), frame["label"])[0].held_out == "test set"


def forms(frame):
    X = features(frame)
    yield "pandas", X
    yield "Arrow", pa.Table.from_pandas(X, preserve_index=False)
    yield "columns", {name: X[name].astype(object).where(X[name].notna(), None) for name in X}


@pytest.mark.parametrize("form", ["pandas", "Arrow", "columns"])
def test_the_sample_holds_rows_that_the_model_judges_alike_as_records(few, frame, model, form):
    X = dict(forms(frame))[form]
    found, sample = evaluate(model.fitted_, model.source_of(X), frame["label"])
    assert len(sample.places) == 30
    assert sorted(set(sample.places.tolist())) == sample.places.tolist()
    seen = found.training().proba[sample.places]
    np.testing.assert_allclose(model.fitted_.model.posterior(sample.X), seen, rtol=1e-12)
    for row in range(5):
        record = record_in(model.model_, sample.X, row)
        assert list(record) == list(model.fitted_.tally.schema.names)
        wanted = features(frame).iloc[sample.places[row]]
        assert record["mail"] == (None if pd.isna(wanted["mail"]) else wanted["mail"])
        posterior = model.fitted_.model.posterior_of(record)
        np.testing.assert_allclose(list(posterior.values()), seen[row], rtol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_matrices_are_sampled_too(few, make):
    counts = np.random.default_rng(0).poisson(2.0, (100, 4))
    y = counts[:, 0] > 2
    source = as_source(make(counts))
    fitted = Fitted(tb.Tally.of(source, y, columns=tb.Count()), Recipe((tb.Multinomial(),)))
    found, sample = evaluate(fitted, source, y)
    np.testing.assert_allclose(
        fitted.model.posterior(sample.X), found.training().proba[sample.places], rtol=1e-12
    )
    record = record_in(fitted.model, sample.X, 2)
    assert list(record.values()) == counts[sample.places[2]].tolist()
    again = evaluate(fitted, source, y)[1].places
    assert again.tolist() == sample.places.tolist()
    assert evaluate(fitted, source, y, seed=1)[1].places.tolist() != again.tolist()


def test_a_model_that_cannot_draw_has_no_records_and_other_mistakes_are_not_hidden(monkeypatch):
    fitted = Fitted(tb.Tally.of({"a": ["p", "q"]}, ["n", "y"]))

    def failing(error):
        def sample(*given, **options):
            raise error

        monkeypatch.setattr(type(fitted.model), "sample", sample)

    failing(CannotDrawError("no way to draw"))
    assert Contents(fitted).examples == []
    failing(tb.TallyBayesError("something else"))
    with pytest.raises(tb.TallyBayesError, match="something else"):
        _ = Contents(fitted).examples


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["n", "y"], "2 labels for 3 rows"),
        (["n", "y", "yes"], "'yes' in row 2, which is not a class; known: 'n', 'y'"),
        (["n", None, "y"], "label of row 1 is missing"),
    ],
)
def test_labels_that_do_not_fit_are_refused(y, said):
    source = as_source({"a": ["p", "q", "q"]})
    fitted = Fitted(tb.Tally.of(source, ["n", "y", "y"]))
    with pytest.raises(tb.TallyBayesError, match=said):
        evaluate(fitted, source, y)


def test_each_reader_is_told_in_words_of_their_own_how_to_judge(tmp_path):
    rows, y = {"a": ["u", "v"] * 9}, ["n", "y"] * 9
    model = tb.NaiveBayes().fit(rows, y)
    page = unescape(model.report().html)
    assert "model.cross_val(X, y, folds=10)" in page
    assert "tallybayes evaluate" not in page
    model.save(tmp_path / "m.tally")
    stored = modelfile.load(tmp_path / "m.tally")
    page = unescape(model_report(stored.fitted, path="m.tally").html)
    assert "tallybayes evaluate TRAINING.csv --target class --folds 10" in page
    assert "cross_val" not in page
