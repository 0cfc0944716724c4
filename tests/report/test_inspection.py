"""What a model is shown to hold, against the raw rows and against what the model answers."""

import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import tallybayes as tb
from lectures import test_loan as loan, test_spam as mails
from tallybayes import families
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering.formula import write
from tallybayes.report.inspection import inspect_model
from validation.registry import CLASSES, SETTINGS

MADE = Provenance("2024-05-01T10:00:00+00:00", "2024-05-02T10:00:00+00:00", "0.1", ("loan.csv",),
                  10, 2, ("fit loan.csv: 10 rows",))  # fmt: skip
MAILS = {"mail": mails.TEXTS}


def stored(tally, *chosen, **options):
    return Stored(Fitted(tally, Recipe(chosen, **options)), MADE)


def look(tally, *chosen, columns=None, words=10, **options):
    return inspect_model(stored(tally, *chosen, **options), columns=columns, words=words)


def lines(found, name):
    """The lines of a column's table, by what they are called: a dict by heading each."""
    (table,) = [each for each in found.tables if name in each.columns]
    heads = table.table.heads
    return {row[0]: dict(zip(heads[1:], row[1:], strict=True)) for row in table.table.rows}


class TestTheLoans:
    def test_the_text_shows_what_a_reader_looks_for(self):
        text = str(look(loan.loans()))
        for part in (
            *("No        7  7/10 = 0.7", "(4 + 1)/(7 + 3) = 1/2 = 0.5", "11 free parameters"),
            *("(0 + 1)/(3 + 3) = 1/6 = 0.1667", "No     7   110  54.5436      2975"),
            *("P(value | cheat)", "Categorical(alpha=1.0)", "loan.csv", "2024-05-01"),
            *("changed 2024-05-02", "decimal numbers"),
        ):
            assert part in text
        assert "2 set aside" in " ".join(text.split())

    @pytest.mark.parametrize(
        ("prior", "expected"),
        [
            (tb.Empirical(), ["7/10 = 0.7", "3/10 = 0.3"]),
            (tb.Uniform(), ["1/2 = 0.5", "1/2 = 0.5"]),
            (tb.Fixed({"No": 0.9, "Yes": 0.1}), ["0.9", "0.1"]),
            (tb.Empirical(alpha=1),
             ["(7 + 1)/(10 + 2) = 2/3 = 0.6667", "(3 + 1)/(10 + 2) = 1/3 = 0.3333"]),
        ],
        ids=["empirical", "uniform", "fixed", "smoothed"],
    )  # fmt: skip
    def test_priors_show_how_they_come_about(self, prior, expected):
        found = look(loan.loans(), prior=prior)
        assert list(map(str, found.priors)) == expected
        assert repr(prior) in str(found)

    def test_a_class_that_was_announced_has_no_rows(self):
        found = look(loan.loans(), declared_classes=("Maybe",))
        assert [row[:2] for row in found.classes().rows] == [("Maybe", 0), ("No", 7), ("Yes", 3)]
        notes = [each["note"] for each in lines(found, "income").values()]
        assert notes == ["no values here: those of all classes", "", ""]

    def test_the_positive_class_and_the_calibration_are_shown(self):
        calibration = Calibration("temperature", {}, 0.5, 0.75, loss=0.25, loss_before=0.5, rows=10)
        found = look(loan.loans(), positive="Yes", calibration=calibration)
        text, told = str(found), found.to_dict()
        assert "Yes wins only when it is strictly more probable" in text
        assert "temperature calibration, 10 rows: log-loss 0.5000 -> 0.2500" in text
        assert told["calibration"]["default"] == 0.5
        assert told["calibration"]["prior"] == 0.75
        assert {each["exponent"] for each in told["columns"]} == {0.5}

    def test_the_size_of_the_file_and_where_the_model_comes_from_are_told(self, tmp_path):
        path = tmp_path / "loan.tally"
        path.write_bytes(b"x" * 1234)
        found = inspect_model(stored(loan.loans()), str(path))
        assert "1234 bytes" in str(found)
        assert found.to_dict()["provenance"]["history"] == ["fit loan.csv: 10 rows"]
        assert inspect_model(stored(loan.loans()), str(tmp_path / "none.tally")).size is None


class TestWords:
    def test_those_of_the_mails_are_those_of_the_notes(self):
        found = look(tb.Tally.of(MAILS, mails.LABELS, columns={"mail": tb.Text()}))
        not_spam, spam = ({row[0]: row[1:] for row in each.table.rows} for each in found.tables)
        assert not_spam["dinner"][0].exact == Fraction(4 + 1, 16 + 14)
        assert not_spam["dinner"][2:] == (4, 0)
        assert spam["lottery"][0].exact == Fraction(2 + 1, 11 + 14)
        assert spam["lottery"][1] == pytest.approx(3 / 25 / (2 / 30))
        assert next(iter(not_spam)) == "dinner"
        assert "14 words are used" in str(found)

    def test_one_class_has_none(self):
        found = look(tb.Tally.of({"mail": ["hi you"]}, ["a"], columns={"mail": tb.Text()}))
        assert found.tables[0].table.rows == ()


def test_what_is_unusual_of_numbers_is_said():
    tally = tb.Tally.of({"size": [1.0, 10.0, 100.0, 7.0]}, list("aaab"),
                        columns={"size": tb.LogNormal()})  # fmt: skip
    found = lines(look(tally), "size")
    assert found["a"]["mean"] == pytest.approx(math.log(10.0))
    assert found["b"]["note"] == "too few values here: the variance within all classes"
    assert "log x in each class" in str(look(tally))
    lifted = look(tb.Tally.of({"x": [1.0, 1.0, 1.0, 2.0, 9.0]}, list("aaabb")))
    assert [each["note"] for each in lines(lifted, "x").values()] == ["lifted by the floor", ""]
    table = {"same": [3.0, 3.0, 3.0], "none": [None] * 3, "on": [1, 0, 1], "off": [None] * 3}
    kinds = {"none": tb.Numeric(), "on": tb.Binary(), "off": tb.Binary()}
    text = str(look(tb.Tally.of(table, list("aab"), columns=kinds)))
    assert "off: no value of it was counted" in text
    assert "the same in every row that was counted" in text
    assert "no value of it was counted" in text


def test_gaps_are_counted_by_class():
    cells = {"x": ["red", None, "blue", None, None], "n": [1.0, 2.0, 3.0, 4.0, None]}
    found = look(tb.Tally.of(cells, list("aabbb"))).to_dict()["columns"]
    assert {each["name"]: each["missing_by_class"] for each in found} == {"x": [1, 2], "n": [0, 1]}


def test_weights_are_shown_beside_rows_and_as_decimals_where_they_are_no_simple_fractions():
    found = look(tb.Tally.of({"x": ["red", "red", "blue"]}, list("aab"), [0.5, 2.0, 1.5]))
    assert [row[1:3] for row in found.classes().rows] == [(2, 2.5), (1, 1.5)]
    assert found.priors[0].exact == Fraction(5, 8)
    assert str(lines(found, "x")["red"]["a"]) == "(2.5 + 1)/(2.5 + 2) = 7/9 = 0.7778"
    found = look(tb.Tally.of({"x": ["red", "blue"]}, list("ab"), [math.pi, 1.0]))
    value = (math.pi + 1) / (math.pi + 2)
    red = lines(found, "x")["red"]["a"]
    assert red.exact is None
    assert str(red) == f"(3.14159 + 1)/(3.14159 + 2) = {value:.4g}"
    told = found.to_dict()["tables"][0]["lines"][1]["by_class"][0]
    assert told["value"] == pytest.approx(value, rel=1e-12)


class Fits:
    """A model of a setting, and how it answers."""

    def __init__(self, setting, classes=CLASSES, **options):
        rows = setting.examples(14)
        X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
        tally = tb.Tally.of(X, y, [w for _, w, _ in rows], schema=setting.schema)
        options = {"prior": tb.Uniform(), "declared_classes": classes, **options}
        self.fitted = Fitted(tally, Recipe(setting.families, setting.columns, **options))
        self.names = setting.names

    def likelihood(self, name, value):
        """P(value | class), from the model's score of a record with that value only."""
        row = {each: [value if each == name else None] for each in self.names}
        return np.exp(self.fitted.model.joint_log_likelihood(row)[0] - self.fitted.model.log_prior)


def family_of(fitted, name):
    return fitted.model.column(name).factor.family


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_what_is_shown_is_what_the_model_answers_with(setting):
    check(setting, Fits(setting))
    if "by class" not in setting.name and "by both" not in setting.name:
        check(setting, Fits(setting, (*CLASSES, "nobody")))  # a class without a row


def check(setting, fits):
    found = inspect_model(Stored(fits.fitted, MADE))
    assert {name for table in found.tables for name in table.columns} == set(setting.names)
    for table in found.tables:
        family = family_of(fits.fitted, table.columns[0])
        if table.by_class:
            _check_lines(fits, table, family)
        elif isinstance(family, tb.Text):
            _check_words(fits, table, family)
        elif not table.note:
            _check_moments(fits, table, isinstance(family, tb.LogNormal))


def _check_moments(fits, table, log):
    """The density at the mean, and one standard deviation from it."""
    for c, (_, _, mean, sd, spread, *_) in enumerate(table.table.rows):
        for x, height in ((mean, 1.0), (mean + sd, math.exp(-0.5))):
            value, stretch = (math.exp(x), math.exp(x)) if log else (x, 1.0)
            expected = height / math.sqrt(2.0 * math.pi * spread) / stretch
            found = fits.likelihood(table.columns[0], value)[c]
            assert found == pytest.approx(expected, rel=1e-6)


def _check_lines(fits, table, family):
    edges = fits.fitted.tally.schema.edges.get(table.columns[0], ())
    for k, (line, *formulas) in enumerate(table.table.rows):
        values = [formula.value for formula in formulas]
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
        assert values == pytest.approx(expected.tolist(), rel=1e-9)
        for formula, number in zip(formulas, values, strict=True):
            _check_working(formula, number)


def _check_words(fits, table, family):
    reweighted = family.words.reweighted or family.event in ("bernoulli", "complement")
    label = table.table.caption.removeprefix("Words for ").rpartition(" (")[0]
    c = list(map(str, fits.fitted.classes)).index(label)
    for word, formula, *_ in table.table.rows:
        value = formula.value
        _check_working(formula, value)
        plain = not reweighted and not word.startswith("#") and " " not in word
        if plain and family.words.tokens == "words":
            expected = fits.likelihood(table.columns[0], word)[c]
            assert value == pytest.approx(expected, rel=1e-9)


def _check_working(formula, value):
    """The formula gives the value, to the digits that it is written with."""
    working = write(formula.parts[0] if formula.op == "=" else formula)
    working = re.sub(r" x 10\^(-?\d+)", r"e\1", working)
    assert re.fullmatch(r"[-+0-9e./() ]+", working)
    if not working.endswith("/0"):
        assert eval(working) == pytest.approx(value, rel=1e-4)
    if formula.exact is not None:
        assert float(formula.exact) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_inspection_is_ready_for_json_and_prints(setting):
    exponents = dict.fromkeys(setting.names, 0.5)
    for calibration in (None, Calibration("weights", exponents, 0.5)):
        found = inspect_model(Stored(Fits(setting, calibration=calibration).fitted, MADE))
        again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert again["rows"] == found.rows.sum()
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


def test_views_joints_weights_and_constants_are_shown():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.normal(size=400)
    table = {"a": np.array(["no", "yes"])[a], "b": b}
    model = tb.SemiNaiveBayes().fit(table, (a == 1) ^ (b > 0.0))
    calibration = model.calibration_
    kept = Stored(model.fitted_, MADE)
    found = inspect_model(kept)
    beside = {name: rest for name, *rest in found.beside().rows}
    assert set(beside) == set(calibration.exponents) - {"a", "b"}
    for name, (cells, exponent, gain) in beside.items():
        assert cells == len(model.model_.column(name).support.values)
        assert exponent == pytest.approx(calibration.exponents[name])
        assert gain == calibration.gains.get(name)
    (table,) = (each.table for each in found.tables if each.columns == ("a x b in 9 parts",))
    joint = model.model_.column("a x b in 9 parts")
    values = dict(zip(joint.support.names, joint.support.values, strict=True))
    for cell, *terms in table.rows:
        one = {"a": values[cell][0], "b": values[cell][1]}
        terms_of = [(each, *getattr(each, "parts", ())) for each in model.explain(one).terms]
        (part,) = (part for parts in terms_of for part in parts if part.column == joint.name)
        assert terms == pytest.approx(list(part.log_likelihood), abs=1e-12)
    heads = found.classes().heads
    constants = {row[0]: row[heads.index("constant")] for row in found.classes().rows}
    assert constants == pytest.approx(dict(calibration.constants))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {each["views and joints"] for each in told["beside"]} == set(beside)
    only = inspect_model(kept, columns=["b"])
    assert not any(" x " in name for each in only.tables for name in each.columns)
    assert "a x b in 9 parts" in str(model.summary())


class TestWhatIsCut:
    def many(self, n=45):
        cells = [f"city{k:02}" for k in range(n) for _ in range(1 + k % 3)]
        labels = ["a", "b"] * (len(cells) // 2)
        return tb.Tally.of({"city": cells, "x": [1.0] * len(cells)}, labels)

    def test_a_long_table_shows_its_frequent_values_unless_the_column_is_named(self):
        text = str(look(self.many()))
        assert "... 15 more" in text
        assert [k for k in range(45) if f"city{k:02}" in text] == [k for k in range(45) if k % 3]
        whole = look(self.many(), columns=["city"])
        assert all(f"city{k:02}" in str(whole) for k in range(45))
        assert not any(each.table.more for each in whole.tables)
        assert [table.columns for table in whole.tables] == [("city",)]
        assert whole.names == ("city",)

    @pytest.mark.parametrize(
        "family", [tb.Multinomial(), tb.Complement(), tb.Poisson(), tb.Bernoulli()], ids=repr
    )
    def test_a_long_bag_shows_the_columns_that_tell_most(self, family):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, (60, 40))
        y = np.repeat([0, 1], 30)
        X[:, 17], X[:, 23] = (y == 0) * 5, (y == 1) * 5
        tally = tb.Tally.of(X, y, columns=family.kind)
        (table,) = look(tally, family, words=2).tables
        assert sorted(row[0] for row in table.table.rows) == ["x17", "x23"]
        assert table.table.more == 38
        (table,) = look(tally, family, columns=["x3", "x5"]).tables
        assert [row[0] for row in table.table.rows] == ["x3", "x5"]

    def test_many_columns_and_many_classes_are_cut_with_a_note(self):
        rng = np.random.default_rng(0)
        y = np.arange(320) % 32
        found = look(tb.Tally.of(rng.normal(size=(320, 120)), y))
        text = str(found)
        assert found.is_cut
        assert "... 20 more" in text
        assert "... 80 more tables" in text
        cells = {"c": rng.integers(0, 3, 320).tolist()}
        found = look(tb.Tally.of(cells, y, columns={"c": tb.Categories()}))
        assert "20 more classes not shown" in str(found)
        assert "--" not in str(found)  # options of a command are not the library's

    def test_a_table_that_is_too_wide_leaves_its_working_out(self):
        y = [f"class {k}" for k in range(8)]
        text = str(look(tb.Tally.of({"x": list("aabbccdd")}, y)))
        line = next(line for line in text.splitlines() if line.startswith("a "))
        assert "(" not in line
        assert max(map(len, text.splitlines())) <= 110

    def test_an_unknown_column_and_no_words_are_refused(self):
        with pytest.raises(tb.TallyBayesError, match="did you mean 'status'"):
            look(loan.loans(), columns=["statis"])
        with pytest.raises(tb.TallyBayesError, match="words is 0"):
            look(loan.loans(), words=0)
