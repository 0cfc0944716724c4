"""What a model is shown to hold, against the raw rows and against what the model answers."""

import json
import math
import re
from fractions import Fraction
from statistics import fmean, pvariance, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from lectures import test_loan as loan
from lectures import test_mails as mails
from tallybayes import families
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.model.recipe import family_for
from tallybayes.modelfile import Provenance, Stored
from tallybayes.report.inspected_tables import Likelihoods, NumberMoments, TopWords
from tallybayes.report.inspection import inspect_model
from validation.registry import CLASSES, SETTINGS

MADE = Provenance("2024-05-01T10:00:00+00:00", "2024-05-02T10:00:00+00:00", "0.1", ("loan.csv",),
                  10, 2, ("fit loan.csv: 10 rows",))  # fmt: skip


def stored(tally, *chosen, **options):
    return Stored(Fitted(tally, Recipe(chosen, **options)), MADE)


def look(tally, *chosen, columns=None, words=10, **options):
    return inspect_model(stored(tally, *chosen, **options), columns=columns, words=words)


def table_of(found, name):
    (table,) = [table for table in found.tables if name in table.columns]
    return table


def fractions(found, name):
    """The exact fractions of a column's lines, one for each class."""
    return {line: [r.fraction for r in ratios] for line, ratios in table_of(found, name).lines}


def rows_of(label, values=None, labels=loan.CHEAT):
    return [v for v, y in zip(values, labels, strict=True) if y == label]


class TestTheLoans:
    def test_the_priors_are_fractions_of_the_rows(self):
        found = look(loan.loans())
        assert [(each.label, each.rows) for each in found.classes] == [("No", 7), ("Yes", 3)]
        assert [str(each.prior) for each in found.classes] == ["7/10 = 0.7", "3/10 = 0.3"]
        assert [each.prior.fraction for each in found.classes] == [Fraction(7, 10), Fraction(3, 10)]

    @pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3)])
    def test_every_likelihood_is_the_fraction_of_its_rows(self, alpha):
        found = look(loan.loans(), tb.Categorical(alpha=float(alpha)))
        for name in ("owner", "status"):
            values = sorted(set(loan.TABLE[name]))
            expected = {
                value: [
                    (rows_of(label, loan.TABLE[name]).count(value) + alpha)
                    / (loan.CHEAT.count(label) + alpha * len(values))
                    for label in ("No", "Yes")
                ]
                for value in values
            }
            assert fractions(found, name) == expected

    def test_a_likelihood_shows_its_working(self):
        married = dict(table_of(look(loan.loans()), "status").lines)["Married"]
        assert str(married[1]) == "(0 + 1)/(3 + 3) = 1/6 = 0.1667"
        married = dict(table_of(look(loan.loans(), tb.Categorical(0)), "status").lines)["Married"]
        assert [str(each) for each in married] == ["4/7 = 0.5714", "0/3 = 0"]

    def test_the_m_estimate_of_the_exercise(self):
        found = look(loan.loans(), loan.EXERCISE)
        assert fractions(found, "status")["Married"] == [Fraction(3, 5), Fraction(1, 6)]
        assert fractions(found, "owner")["No"] == [Fraction(3, 5), Fraction(4, 6)]

    @pytest.mark.parametrize(("ddof", "spread"), [(1, variance), (0, pvariance)])
    def test_moments_are_those_of_the_rows(self, ddof, spread):
        income = table_of(look(loan.loans(), tb.Gaussian(ddof=ddof)), "income")
        assert (income.ddof, income.log) == (ddof, False)
        for label, each in zip(("No", "Yes"), income.lines, strict=True):
            values = rows_of(label, loan.TABLE["income"])
            assert each.rows == each.weight == len(values)
            assert each.mean == pytest.approx(fmean(values), rel=1e-12)
            assert each.variance == pytest.approx(spread(values), rel=1e-12)
            assert each.sd == pytest.approx(spread(values) ** 0.5, rel=1e-12)
            assert each.note == ""

    def test_the_text_shows_what_a_reader_looks_for(self):
        text = str(look(loan.loans()))
        for part in (
            *("No        7  7/10 = 0.7", "Married   (4 + 1)/(7 + 3) = 1/2  = 0.5"),
            *("(0 + 1)/(3 + 3) = 1/6 = 0.1667", "No     7   110  54.5436      2975"),
            *("P(value | cheat)", "the variance divides by n - 1", "Categorical(alpha=1.0)"),
            *("loan.csv", "2024-05-01", "changed 2024-05-02", "2 set aside", "decimal numbers"),
        ):
            assert part in text

    def test_parameters_are_counted_as_the_model_counts_them(self):
        found, model = look(loan.loans()), tb.estimate(loan.loans())
        assert found.free_parameters == model.free_parameters
        assert found.table_entries == model.table_entries
        assert f"{model.free_parameters} free parameters" in str(found)


def test_the_words_of_the_mails_are_those_of_the_notes():
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": tb.Text()})
    found = table_of(look(tally), "mail")
    assert isinstance(found, TopWords)
    assert (found.words, found.documents) == (14, (4, 3))
    not_spam, spam = ({each.word: each for each in words} for words in found.by_class)
    assert not_spam["dinner"].probability.fraction == Fraction(4 + 1, 16 + 14)
    assert (not_spam["dinner"].here, not_spam["dinner"].elsewhere) == (4, 0)
    assert spam["lottery"].probability.fraction == Fraction(2 + 1, 11 + 14)
    assert spam["lottery"].times == pytest.approx(3 / 25 / (2 / 30))
    assert next(iter(not_spam)) == "dinner"


@pytest.mark.parametrize("words", [1, 3])
def test_so_many_words_are_shown_as_asked_for(words):
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": tb.Text()})
    found = look(tally, words=words)
    assert [len(each) for each in found.tables[0].by_class] == [words] * 2
    assert "--words N" in str(found)


def test_bernoulli_words_are_shares_of_the_documents():
    text = tb.Text(event="bernoulli")
    tally = tb.Tally.of({"mail": mails.TEXTS}, mails.LABELS, columns={"mail": text})
    found = table_of(look(tally, text), "mail").by_class[1]
    lottery = {each.word: each.probability for each in found}["lottery"]
    assert str(lottery) == "(2 + 1)/(3 + 2) = 3/5 = 0.6"


COUNTED = {"win": [2, 0, 1, 0, 3], "lunch": [0, 1, 0, 4, 0], "the": [1, 1, 2, 1, 1]}
OF = ["spam", "ham", "spam", "ham", "ham"]


def total(label, names=tuple(COUNTED)):
    return sum(sum(rows_of(label, COUNTED[name], OF)) for name in names)


def bag(family):
    tally = tb.Tally.of(COUNTED, OF, columns=dict.fromkeys(COUNTED, family))
    return look(tally, family)


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(1, 10)])
class TestColumnsThatCount:
    def test_multinomial_columns_are_shares_of_the_total(self, alpha):
        found = fractions(bag(tb.Multinomial(float(alpha))), "win")
        assert found == {
            name: [(total(c, (name,)) + alpha) / (total(c) + 3 * alpha) for c in ("ham", "spam")]
            for name in COUNTED
        }

    def test_complement_columns_are_shares_in_the_other_classes(self, alpha):
        found = fractions(bag(tb.Complement(float(alpha))), "win")
        assert found == {
            name: [(total(c, (name,)) + alpha) / (total(c) + 3 * alpha) for c in ("spam", "ham")]
            for name in COUNTED
        }

    def test_poisson_columns_are_events_a_row(self, alpha):
        found = fractions(bag(tb.Poisson(float(alpha))), "win")
        assert found == {
            name: [(total(c, (name,)) + alpha) / OF.count(c) for c in ("ham", "spam")]
            for name in COUNTED
        }

    def test_bernoulli_columns_are_shares_of_rows_above_the_threshold(self, alpha):
        family = tb.Bernoulli(float(alpha), threshold=1.0)
        found = bag(family)
        assert fractions(found, "win") == {
            name: [
                (sum(x > 1 for x in rows_of(c, COUNTED[name], OF)) + alpha)
                / (OF.count(c) + 2 * alpha)
                for c in ("ham", "spam")
            ]
            for name in COUNTED
        }
        assert "P(above 1 | class)" in str(found)


def test_intervals_are_named_by_their_edges():
    ages = [12, 15, 40, 52, 70, 81, 18]
    labels = ["no", "no", "yes", "yes", "no", "no", "yes"]
    tally = tb.Tally.of({"age": ages}, labels, columns={"age": tb.Bins(edges=(18, 65))})
    found = fractions(look(tally), "age")
    assert found == {
        "(-inf, 18]": [Fraction(2 + 1, 4 + 3), Fraction(1 + 1, 3 + 3)],
        "(18, 65]": [Fraction(0 + 1, 4 + 3), Fraction(2 + 1, 3 + 3)],
        "(65, inf)": [Fraction(2 + 1, 4 + 3), Fraction(0 + 1, 3 + 3)],
    }


def test_moments_of_logarithms_are_marked():
    sizes = [1.0, 10.0, 100.0, 7.0]
    tally = tb.Tally.of({"size": sizes}, list("aaab"), columns={"size": tb.LogNormal()})
    found = table_of(look(tally), "size")
    assert found.log
    assert found.lines[0].mean == pytest.approx(math.log(10.0))
    assert found.lines[1].note == "too few values here: the variance within all classes"
    assert "log x in each class" in str(look(tally))


def test_a_constant_column_and_one_without_values_say_so():
    table = {"same": [3.0, 3.0, 3.0], "none": [None] * 3}
    kinds = {"none": tb.Numeric()}
    text = str(look(tb.Tally.of(table, list("aab"), columns=kinds)))
    assert "left out: the same in every row that was counted" in text
    assert "no value of it was counted" in text


def test_a_variance_that_is_too_small_says_so():
    tally = tb.Tally.of({"x": [1.0, 1.0, 1.0, 2.0, 9.0]}, list("aaabb"))
    notes = [each.note for each in table_of(look(tally), "x").lines]
    assert notes == ["lifted by the floor", ""]


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (tb.Multinomial(0), Fraction(3, 7)),
        (tb.Poisson(0), Fraction(3, 3)),
        (tb.Bernoulli(0), Fraction(2, 3)),
        (tb.Poisson(1), Fraction(3 + 1, 3)),
        (tb.Bernoulli(1), Fraction(0 + 1, 0 + 2)),
        (tb.Multinomial(1), Fraction(0 + 1, 0 + 2)),
    ],
    ids=repr,
)
def test_a_class_without_values_shows_the_counts_of_all_classes(family, expected):
    table = {"win": [1, 2, 0, None], "lunch": [4, 0, 0, None]}
    kinds = dict.fromkeys(table, family.kind)
    found = look(tb.Tally.of(table, list("aaab"), columns=kinds), family)
    assert fractions(found, "win")["win"][1] == expected


def test_categories_of_a_class_without_values_show_those_of_all_classes():
    tally = tb.Tally.of({"x": ["red", "red", "blue", None]}, list("aaab"))
    assert fractions(look(tally, tb.Categorical(0)), "x")["red"] == [Fraction(2, 3)] * 2


def test_intervals_without_values_are_equally_probable():
    tally = tb.Tally.of({"x": [None, None]}, list("ab"), columns={"x": tb.Bins((1, 2))})
    for alpha in (0, 1):
        found = fractions(look(tally, tb.Bins(alpha=alpha)), "x")
        assert found == dict.fromkeys(["(-inf, 1]", "(1, 2]", "(2, inf)"], [Fraction(1, 3)] * 2)


CELLS = st.sampled_from(["red", "green", "blue", None])
ALPHAS = st.sampled_from(
    [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(7, 100)]
)


@given(rows=st.lists(st.tuples(st.sampled_from("ab"), CELLS), min_size=1), alpha=ALPHAS)
def test_any_column_of_categories_is_shown_with_its_fractions(rows, alpha):
    labels, cells = [y for y, _ in rows], [cell for _, cell in rows]
    tally = tb.Tally.of({"x": cells}, labels, columns={"x": tb.Categories()})
    found = look(tally, tb.Categorical(alpha=float(alpha)))
    seen = sorted({cell for cell in cells if cell is not None})
    assert [line for line, _ in table_of(found, "x").lines] == seen
    for k, label in enumerate(sorted(set(labels))):
        here = [cell for y, cell in rows if y == label and cell is not None]
        everywhere = [cell for cell in cells if cell is not None]
        for value in seen:
            if here or alpha:
                expected = (here.count(value) + alpha) / (len(here) + alpha * len(seen))
            else:  # the class takes what all classes have together
                expected = Fraction(everywhere.count(value), len(everywhere))
            assert fractions(found, "x")[value][k] == expected
        assert found.columns[0].missing[k] == sum(y == label and c is None for y, c in rows)


def test_missing_values_are_counted_by_column_and_class():
    table = {
        "income": [1.0, None, 3.0, 4.0],
        "colour": ["red", None, None, "red"],
        "on": [None, 1, 0, 1],
        "mail": ["hi", "you", None, "hi"],
    }
    kinds = {"on": tb.Binary(), "mail": tb.Text()}
    found = look(tb.Tally.of(table, list("aabb"), columns=kinds))
    missing = {each.name: each.missing for each in found.columns}
    expected = {
        name: tuple(sum(v is None for v in column[k : k + 2]) for k in (0, 2))
        for name, column in table.items()
    }
    assert missing == expected
    assert [each.name for each in found.columns] == list(table)


class Fits:
    """A model of a setting, and how it answers."""

    def __init__(self, setting, classes=CLASSES, **options):
        rows = setting.examples(14)
        X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
        tally = tb.Tally.of(X, y, [w for _, w, _ in rows], schema=setting.schema)
        self.fitted = Fitted(
            tally,
            Recipe(
                setting.families,
                setting.columns,
                prior=tb.Uniform(),
                declared_classes=classes,
                **options,
            ),
        )
        self.names = setting.names

    def likelihood(self, name, value):
        """P(value | class), from the model's score of a record with that value only."""
        row = {each: [value if each == name else None] for each in self.names}
        return np.exp(self.fitted.model.joint_log_likelihood(row)[0] - self.fitted.model.log_prior)


def family_of(fitted, name):
    kind = fitted.tally.schema.kind(name)
    return fitted.recipe.columns.get(name) or family_for(kind, fitted.recipe.families)


NOBODY = "nobody"  # a class without a row


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_what_is_shown_is_what_the_model_answers_with(setting):
    check(setting, Fits(setting))


@pytest.mark.parametrize(
    "setting",
    [s for s in SETTINGS if "by class" not in s.name and "by both" not in s.name],
    ids=str,
)
def test_a_class_without_rows_is_shown_as_the_model_takes_it(setting):
    check(setting, Fits(setting, (*CLASSES, NOBODY)))


def check(setting, fits):
    found = inspect_model(Stored(fits.fitted, MADE))
    assert sorted(name for table in found.tables for name in table.columns) == sorted(setting.names)
    for table in found.tables:
        name = table.columns[0]
        if isinstance(table, NumberMoments):
            _check_moments(fits, table, name)
        elif isinstance(table, Likelihoods):
            _check_lines(fits, table, family_of(fits.fitted, name))
        else:
            _check_words(fits, table, family_of(fits.fitted, name))


def _check_moments(fits, table, name):
    """The density at the mean, and one standard deviation from it."""
    for c, each in enumerate(table.lines):
        if table.note:
            continue
        at, away = (
            fits.likelihood(name, math.exp(x) if table.log else x)[c]
            for x in (each.mean, each.mean + each.sd)
        )
        height = 1.0 / math.sqrt(2.0 * math.pi * each.variance)
        stretch = math.exp(each.mean) if table.log else 1.0
        assert at == pytest.approx(height / stretch, rel=1e-6)
        more = math.exp(each.sd) if table.log else 1.0
        assert away == pytest.approx(height / stretch / more * math.exp(-0.5), rel=1e-6)


def _check_lines(fits, table, family):
    edges = fits.fitted.tally.schema.edges.get(table.columns[0], ())
    for k, (line, ratios) in enumerate(table.lines):
        if isinstance(family, tb.Bins):
            value = [*edges, edges[-1] + 1.0][k]
            expected = fits.likelihood(table.columns[0], value)
        elif isinstance(family, tb.Categorical):
            expected = fits.likelihood(table.columns[0], line)
        elif isinstance(family, tb.Bernoulli):
            expected = fits.likelihood(line, family.threshold + 1.0)
        elif isinstance(family, tb.Poisson):
            expected = -np.log(fits.likelihood(line, 0.0))
        elif isinstance(family, tb.Complement) and family.norm:
            continue  # weights that are divided by their sum: the shares are those without
        else:
            expected = fits.likelihood(line, 1.0)
            if isinstance(family, tb.Complement):
                expected = 1.0 / expected
        assert [ratio.value for ratio in ratios] == pytest.approx(expected.tolist(), rel=1e-9)
        for ratio in ratios:
            _check_working(ratio)


def _check_words(fits, table, family):
    reweighted = family.words.reweighted or family.event in ("bernoulli", "complement")
    for c, words in enumerate(table.by_class):
        for each in words:
            _check_working(each.probability)
            plain = not reweighted and not each.word.startswith("#") and " " not in each.word
            if plain and family.words.tokens == "words":
                expected = fits.likelihood(table.columns[0], each.word)[c]
                assert each.probability.value == pytest.approx(expected, rel=1e-9)


def _check_working(ratio):
    """The formula gives the value, to the digits that it is written with."""
    assert re.fullmatch(r"[-+0-9e./() ]+", ratio.working or "0")
    if ratio.working and not ratio.working.endswith("/0"):
        assert eval(ratio.working) == pytest.approx(ratio.value, rel=1e-4)
    if ratio.fraction is not None:
        assert float(ratio.fraction) == pytest.approx(ratio.value, rel=1e-9)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_inspection_is_ready_for_json_and_prints(setting):
    exponents = dict.fromkeys(setting.names, 0.5)
    for calibration in (None, Calibration("weights", exponents, 0.5)):
        found = inspect_model(Stored(Fits(setting, calibration=calibration).fitted, MADE))
        again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert again["rows"] == found.rows
        assert [each["name"] for each in again["columns"]] == list(setting.names)
        expected = {1.0} if calibration is None else {0.5}
        assert {each["exponent"] for each in again["columns"]} == expected
        text = str(found)
        assert all(name in text for name in setting.names)
        assert all(line == line.rstrip() for line in text.splitlines())


def test_every_family_is_inspected():
    every = {
        getattr(families, name)
        for name in families.__all__
        if hasattr(getattr(families, name), "estimate") and name != "Family"
    }
    tried = {type(family_of(Fits(s).fitted, name)) for s in SETTINGS for name in s.names}
    assert every <= tried


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (tb.Uniform(), ["1/2 = 0.5", "1/2 = 0.5"]),
        (tb.Fixed({"No": 0.9, "Yes": 0.1}), ["9/10 = 0.9", "1/10 = 0.1"]),
        (tb.Empirical(alpha=1),
         ["(7 + 1)/(10 + 2) = 2/3 = 0.6667", "(3 + 1)/(10 + 2) = 1/3 = 0.3333"]),
    ],
    ids=["uniform", "fixed", "smoothed"],
)  # fmt: skip
def test_priors_show_how_they_come_about(prior, expected):
    found = look(loan.loans(), prior=prior)
    assert [str(each.prior) for each in found.classes] == expected
    assert repr(prior) in str(found)


def test_a_class_that_was_announced_has_no_rows():
    found = look(loan.loans(), declared_classes=("Maybe",))
    assert [(each.label, each.rows) for each in found.classes] == [
        ("Maybe", 0), ("No", 7), ("Yes", 3),
    ]  # fmt: skip
    notes = [each.note for each in table_of(found, "income").lines]
    assert notes == ["no values here: those of all classes", "", ""]


def test_weights_are_shown_beside_rows():
    tally = tb.Tally.of({"x": ["red", "red", "blue"]}, list("aab"), [0.5, 2.0, 1.5])
    found = look(tally)
    assert [each.weight for each in found.classes] == [2.5, 1.5]
    assert found.classes[0].prior.fraction == Fraction(5, 8)
    assert str(dict(table_of(found, "x").lines)["red"][0]) == "(2.5 + 1)/(2.5 + 2) = 7/9 = 0.7778"
    assert "weight" in str(found)


def test_weights_that_are_no_simple_fractions_show_only_decimals():
    tally = tb.Tally.of({"x": ["red", "blue"]}, list("ab"), [math.pi, 1.0])
    ratio = dict(table_of(look(tally), "x").lines)["red"][0]
    assert ratio.fraction is None
    assert str(ratio) == f"(3.14159 + 1)/(3.14159 + 2) = {(math.pi + 1) / (math.pi + 2):.4g}"


def test_the_positive_class_the_reasons_and_the_calibration_are_shown():
    calibration = Calibration("temperature", {}, 0.5, 0.75, loss=0.25, loss_before=0.5, rows=10)
    found = look(
        loan.loans(), positive="Yes", calibration=calibration, reasons={"income": "fits best"}
    )
    text = str(found)
    assert "Yes wins only when it is strictly more probable" in text
    assert "fits best; decimal numbers" in text
    assert "temperature calibration, 10 rows: log-loss 0.5000 -> 0.2500" in text
    assert found.to_dict()["calibration"]["default"] == 0.5
    assert found.to_dict()["calibration"]["prior"] == 0.75
    assert "exponent of the prior 0.750" in text
    assert {each.exponent for each in found.columns} == {0.5}


def test_the_size_of_the_file_is_told_if_it_is_named(tmp_path):
    path = tmp_path / "loan.tally"
    path.write_bytes(b"x" * 1234)
    found = inspect_model(stored(loan.loans()), str(path))
    assert found.size == 1234
    assert "1234 bytes" in str(found)
    assert inspect_model(stored(loan.loans())).size is None
    assert inspect_model(stored(loan.loans()), str(tmp_path / "none.tally")).size is None


def test_the_provenance_is_all_there():
    found = look(loan.loans()).to_dict()["provenance"]
    assert found == {
        "created": MADE.created, "changed": MADE.changed, "version": "0.1",
        "sources": ["loan.csv"], "rows": 10, "skipped": 2, "history": ["fit loan.csv: 10 rows"],
    }  # fmt: skip


def many_values(n=30):
    cells = [f"city{k:02}" for k in range(n) for _ in range(1 + k % 3)]
    return tb.Tally.of({"city": cells, "x": [1.0] * len(cells)}, ["a", "b"] * (len(cells) // 2))


def test_a_long_table_is_cut_to_its_frequent_values_unless_the_column_is_named():
    text = str(look(many_values()))
    assert "... and 10 more values: see them with --column city" in text
    assert [k for k in range(30) if f"city{k:02}" in text] == [k for k in range(30) if k % 3]
    whole = look(many_values(), columns=["city"])
    assert all(f"city{k:02}" in str(whole) for k in range(30))
    assert "more values" not in str(whole)
    assert [table.columns for table in whole.tables] == [("city",)]
    assert [each.name for each in whole.columns] == ["city"]


def test_a_long_bag_shows_the_columns_that_tell_most():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (60, 40))
    y = np.repeat([0, 1], 30)
    X[:30, 17] += 9
    X[30:, 23] += 9
    tally = tb.Tally.of(X, y, columns=tb.Count())
    for family in (tb.Multinomial(), tb.Complement(), tb.Poisson()):
        (table,) = look(tally, family, words=2).tables
        assert sorted(name for name, _ in table.lines) == ["x17", "x23"]
        assert table.more == 38
    (table,) = look(tally, columns=["x3", "x5"]).tables
    assert [name for name, _ in table.lines] == ["x3", "x5"]
    assert "--words N" in str(look(tally))


def test_many_binary_columns_show_those_that_tell_most():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 40))
    y = np.repeat([0, 1], 30)
    X[:, 11] = y
    (table,) = look(tb.Tally.of(X, y, columns=tb.Binary()), words=1).tables
    assert [name for name, _ in table.lines] == ["x11"]


def test_many_columns_and_many_classes_are_cut_with_a_note():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = np.arange(300) % 30
    text = str(look(tb.Tally.of(X, y)))
    assert "... and 10 more columns: see one with --column NAME" in text
    assert "... and 40 more tables: see one with --column NAME" in text
    assert "... and 10 more classes" in text
    cells = {"c": rng.integers(0, 3, 300).tolist()}
    text = str(look(tb.Tally.of(cells, y, columns={"c": tb.Categories()})))
    assert "... and 18 more classes: see them with --json" in text


def test_a_table_that_is_too_wide_leaves_its_working_out():
    y = [f"class {k}" for k in range(8)]
    text = str(look(tb.Tally.of({"x": list("aabbccdd")}, y)))
    line = next(line for line in text.splitlines() if line.startswith("a "))
    assert "(" not in line
    assert max(map(len, text.splitlines())) <= 110


def test_one_class_has_no_telling_words():
    tally = tb.Tally.of({"mail": ["hi you"]}, ["a"], columns={"mail": tb.Text()})
    found = look(tally)
    assert found.tables[0].by_class == ((),)
    assert "no word speaks for it" in str(found)


def test_an_unknown_column_and_no_words_are_refused():
    with pytest.raises(tb.TallyBayesError, match="did you mean 'status'"):
        look(loan.loans(), columns=["statis"])
    with pytest.raises(tb.TallyBayesError, match="words is 0"):
        look(loan.loans(), words=0)
