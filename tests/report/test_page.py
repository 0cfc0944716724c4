"""The page of a report: complete, self-contained, and right for models of every family."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile import Provenance, Stored, dump_bytes, save
from tallybayes.report.evaluated import judged_here
from tallybayes.report.page import POLICY, SECTIONS, model_report
from tallybayes.sources import as_source
from validation.registry import SETTINGS

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
LOAN = {
    "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    "status": [
        "Single",
        "Married",
        "Single",
        "Married",
        "Divorced",
        "Married",
        "Divorced",
        "Single",
        "Married",
        "Single",
    ],
    "income": [125, 100, 70, 120, 95, 60, 220, 85, 75, 90],
}
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]


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


def loan(**options):
    return Fitted(tb.Tally.of(LOAN, CHEAT, target="cheat"), **options)


def judged(fitted, X, y, weights=None):
    evaluation, rows = judged_here(fitted, as_source(X), y, weights)
    return {"evaluation": evaluation, "rows": rows}


@pytest.fixture(scope="module")
def page():
    return model_report(
        loan(), Provenance.now("loan.csv", 10), data=["test.csv"], **judged(loan(), LOAN, CHEAT)
    )


def test_all_sections_are_there_in_order(page):
    assert len(page.sections) == len(SECTIONS) == 10
    places = [page.html.index(f'<section id="{name}"') for name in page.sections]
    assert places == sorted(places)
    for name in page.sections:
        assert f'<a href="#{name}">' in page.html


def test_the_page_is_sound_and_needs_nothing_else(page):
    found = read(page)
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(found.tags)
    assert ("content", POLICY) in found.attributes
    for name, value in found.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "xlink:href", "action"):
            assert value.startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"url\((?!#)|@import", page.html)


def test_the_numbers_of_the_lecture_are_on_the_page(page):
    text = read(page).text
    assert "7/10" in text
    assert "(0 + 1)/(3 + 3) = 1/6" in text
    assert "2975" in text  # the variance of the incomes of class No


def test_the_summary_says_how_good_it_is_and_how_good_the_simplest_answer(page):
    text = read(page).text
    assert "On 10 labelled rows it was right for 100 %" in text
    assert "always answering No would be right for 70 %" in text


def test_without_data_it_says_how_to_get_scores():
    report = model_report(loan(), path="loan.tally")
    text = read(report).text
    assert "tallybayes report loan.tally --data TEST.csv -o report.html" in text
    assert "drawn from the model itself, with seed 0" in text
    assert report.scores is None


def test_the_examples_are_the_surest_the_surest_mistake_and_the_closest_call():
    fitted = loan()
    y = [*CHEAT[:-1], "No"]  # so that the last row is a mistake
    report = model_report(fitted, **judged(fitted, LOAN, y))
    text = read(report).text
    proba, winners = fitted.model.judged(LOAN)
    true = np.array([("No", "Yes").index(label) for label in y])
    sure = np.where(winners == true, proba.max(axis=1), 0.0)
    wrong = np.where(winners != true, proba.max(axis=1), 0.0)
    gap = np.abs(proba[:, 0] - proba[:, 1])
    taken = [int(sure.argmax()), int(wrong.argmax())]
    gap[taken] = np.inf
    for title, row in zip(
        ("The surest that was right", "The surest mistake", "The closest call"),
        (*taken, int(gap.argmin())),
        strict=True,
    ):
        assert f"{title} Row {row + 1} of the data." in text


def test_a_model_that_makes_no_mistake_has_no_example_of_one(page):
    assert "The surest mistake" not in read(page).text


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
    "text, Words(buckets=8), event=multinomial",
    "text, event=bernoulli",
    "mixed, with families of their own",
    "two texts",
)


@pytest.mark.parametrize("name", OF_EVERY_FAMILY)
def test_models_of_every_family_have_a_report_with_data_and_without(name):
    (setting,) = (each for each in SETTINGS if each.name == name)
    rows = setting.examples(40)
    X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
    tally = tb.Tally.of(X, y, schema=setting.schema)
    fitted = Fitted(tally, setting.families, setting.columns)
    for report in (model_report(fitted), model_report(fitted, **judged(fitted, X, y))):
        assert set(read(report).tags) >= {"table", "svg", "h1", "nav"}
        assert "nan" not in re.sub(r"<svg.*?</svg>", "", report.html, flags=re.DOTALL).split()


@pytest.mark.parametrize("how", ["temperature", "weights", "isotonic"])
def test_calibrated_models_say_so(how):
    curves = {label: (np.array([0.0, 1.0]), np.array([0.1, 0.9])) for label in ("No", "Yes")}
    calibration = Calibration(
        how,
        {"income": 0.5} if how == "weights" else {},
        0.8,
        curves=curves if how == "isotonic" else {},
    )
    fitted = loan(calibration=calibration)
    report = model_report(fitted, **judged(fitted, LOAN, CHEAT))
    assert calibration.headline in read(report).text


def test_weights_count():
    weights = np.arange(10.0)
    report = model_report(loan(), **judged(loan(), LOAN, CHEAT, weights))
    assert report.scores.accuracy == 1.0
    assert "Their weights together 45" in read(report).text


def test_a_model_of_one_class_has_a_report():
    fitted = Fitted(tb.Tally.of({"a": ["x", "y"]}, ["p", "p"]))
    with pytest.warns(tb.TallyBayesWarning, match="accuracy misleads"):
        of_rows = model_report(fitted, **judged(fitted, {"a": ["x"]}, ["p"]))
    for report in (model_report(fitted), of_rows):
        assert "only ever p" in read(report).text


def test_a_class_without_rows_has_a_report():
    fitted = loan(announced=("Maybe", "No", "Yes"))
    read(model_report(fitted, **judged(fitted, LOAN, CHEAT)))


def test_labels_and_values_may_be_numbers_and_truths():
    X = {"a": [1, 2, 1, 2], "b": [True, False, True, True]}
    for y in ([1, 1, 2, 2], [True, True, False, False], [0.5, 0.5, 1.5, 1.5]):
        fitted = Fitted(tb.Tally.of(X, y))
        read(model_report(fitted, **judged(fitted, X, y)))


def test_a_single_row_is_enough():
    first = {name: values[:1] for name, values in LOAN.items()}
    with pytest.warns(tb.TallyBayesWarning, match="accuracy misleads"):
        report = model_report(loan(), **judged(loan(), first, CHEAT[:1]))
    assert "On 1 labelled row it was right" in read(report).text


def test_saving_replaces_a_file_whole(tmp_path, page):
    file = tmp_path / "report.html"
    file.write_text("old")
    page.save(file)
    assert file.read_text(encoding="utf-8") == page.html
    assert list(tmp_path.iterdir()) == [file]


def test_the_fingerprint_is_that_of_the_model_file(tmp_path):
    import hashlib

    made = Provenance.now("loan.csv", 10)
    file = tmp_path / "loan.tally"
    save(file, Stored(loan(), made))
    wanted = hashlib.sha256(file.read_bytes()).hexdigest()
    assert wanted in model_report(loan(), made, path=str(file)).html
    assert (
        hashlib.sha256(dump_bytes(Stored(loan(), made))).hexdigest()
        in model_report(loan(), made).html
    )


def test_a_model_that_was_never_saved_has_the_same_fingerprint_every_time():
    def found(report):
        return re.search(r"SHA-256 of counts and options</dt><dd><code>(\w+)", report.html)[1]

    assert found(model_report(loan())) == found(model_report(loan()))
    other = Fitted(tb.Tally.of(LOAN, ["Yes", *CHEAT[1:]], target="cheat"))
    assert found(model_report(loan())) != found(model_report(other))


def test_it_prints_as_a_line_and_shows_in_a_frame(page):
    assert str(page).startswith("Naive Bayes for cheat: 10 sections, ")
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert page.to_dict()["bytes"] == len(page.html.encode("utf-8"))
    assert page.to_dict()["scores"]["accuracy"] == 1.0


def test_a_title_that_is_given_is_the_title():
    assert "<title>Loans &amp; more</title>" in model_report(loan(), title="Loans &\n more").html
