"""Files that earlier versions wrote are read, and say what they always said."""

from fractions import Fraction
from math import exp, log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from modelfile.samples import assert_same_stored
from tallybayes.modelfile import dump_bytes, is_model_file, load
from tallybayes.modelfile.manifest import FORMAT
from tallybayes.tallies.word_counts import COUNT

FILES = sorted((Path(__file__).parent / "files").glob("*.tally"))


def named(name):
    (path,) = (each for each in FILES if each.name == name)
    return load(path)


def near(number):
    return pytest.approx(float(number), rel=1e-13)


def test_there_are_files_of_every_version():
    assert {int(each.name[1:].partition("-")[0]) for each in FILES} == set(range(1, FORMAT + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_any_version_is_read_and_can_be_written_again(path):
    assert is_model_file(path)
    there = load(path)
    assert_same_stored(load(dump_bytes(there)), there)
    more = tb.Tally(there.fitted.tally.schema)
    assert there.fitted.tally + more == there.fitted.tally
    assert len(there.fitted.model.classes) >= 2


def density(x, mean, variance):
    return exp(-((x - mean) ** 2) / (2 * variance)) / sqrt(2 * pi * variance)


def test_the_loans_of_format_1():
    there = named("v1-loan.tally")
    assert there.provenance.created == "2026-11-16T12:00:00+00:00"
    assert there.provenance.history == ("fit loan.csv: 10 rows",)
    assert (there.provenance.rows, there.provenance.sources) == (10, ("loan.csv",))
    assert there.estimator is None
    fitted = there.fitted
    assert fitted.tally.schema.target == "cheat"
    assert fitted.tally.schema.names == ("owner", "status", "income")
    assert fitted.tally.classes == ("No", "Yes")
    assert fitted.tally.rows.tolist() == [7, 3]
    assert fitted.labels.tolist() == ["No", "Yes"]
    assert fitted.recipe.positive == "Yes"
    assert fitted.recipe.reasons == {"income": "declared"}
    assert fitted.recipe.prior == tb.Fixed({"Yes": 0.25, "No": 0.75})
    # P(owner = No | c), the m-estimate of P(status = Single | c), and the incomes
    no = Fraction(3, 4) * Fraction(4, 7) * (2 + 3 * Fraction(2, 3)) / (7 + 3)
    yes = Fraction(1, 4) * Fraction(3, 3) * (2 + 3 * Fraction(1, 3)) / (3 + 3)
    in_no, in_yes = (float(no) * density(95, 110, 2975)), (float(yes) * density(95, 90, 25))
    record = {"owner": "No", "status": "Single", "income": 95.0}
    assert fitted.model.posterior_of(record)["Yes"] == near(in_yes / (in_no + in_yes))
    # no owner of a house cheats
    assert fitted.model.posterior_of({**record, "owner": "Yes"}) == {"No": 1.0, "Yes": 0.0}


def test_the_mails_of_format_1():
    there = named("v1-mails.tally")
    assert there.estimator == {"name": "TextNB", "alpha": 0.5}
    fitted = there.fitted
    assert fitted.classes == (False, True)
    assert all(type(label) is bool for label in fitted.classes)
    assert fitted.tally.rows.tolist() == [3, 2]
    assert fitted.labels is None
    # 6 words; 5 words in mails that are none, 5 in spam; "lottery" is 3 of these, "you" 2 of those
    half = Fraction(1, 2)
    lottery = (3 + half) / (5 + 6 * half), (0 + half) / (5 + 6 * half)
    you = (0 + half) / (5 + 6 * half), (2 + half) / (5 + 6 * half)
    odds = (lottery[0] / lottery[1]) ** 2 * you[0] / you[1]
    calibrated = sqrt(odds)  # the exponent is 1/2
    posterior = fitted.model.posterior_of({"mail": "Lottery, you lottery!"})
    assert posterior[True] == near(calibrated / (1 + calibrated))
    assert (fitted.recipe.calibration.loss, fitted.recipe.calibration.loss_before) == (0.25, 0.75)
    assert fitted.recipe.calibration.prior == 1.0  # of which such files do not know


def test_the_numbers_of_format_1():
    fitted = named("v1-numbers.tally").fitted
    assert fitted.classes == (7, 300, 1000)
    assert fitted.labels.dtype == np.int16
    assert fitted.tally.rows.tolist() == [2, 2]
    assert fitted.tally.weight.tolist() == [2.0, 2.5]
    assert fitted.recipe.positive == 300
    model = fitted.model
    assert model.prior.tolist() == near_list(
        Fraction(3), Fraction(7, 2), Fraction(1), of=Fraction(15, 2)
    )

    def likelihood(name, value):
        rows = {each: [None] for each in fitted.tally.schema.names}
        rows |= {"visits": [0], "calls": [0], name: [value]}
        base = {**rows, name: [0 if name in ("visits", "calls") else None]}
        return [model.joint_log_likelihood(each)[0] for each in (rows, base)]

    # "on": (n + 1/2) / (N + 1), of all classes together where there is no row
    with_value, without = likelihood("on", 1)
    expected = [Fraction(3, 2) / 3, Fraction(3) / Fraction(7, 2)]
    assert np.exp(with_value - without)[:2].tolist() == near_list(*expected)
    # 18 lies in the first of three intervals
    with_value, without = likelihood("age", 18)
    expected = [Fraction(3, 5), Fraction(1) / Fraction(11, 2)]
    assert np.exp(with_value - without)[:2].tolist() == near_list(*expected)
    # rates of visits: (sum + 1/4) / N
    with_value, without = likelihood("visits", 1)
    expected = [Fraction(17, 4) / 2, Fraction(17, 4) / Fraction(5, 2)]
    assert np.exp(with_value - without)[:2].tolist() == near_list(*expected)
    # log sizes: 0 and 0 in one class, log 8 and log 2 in the other, weights 1/2 and 2
    with_value, without = likelihood("size", 2.0)
    mean = Fraction(1, 5) * 3 + Fraction(4, 5)
    variance = Fraction(1, 5) * (3 - mean) ** 2 + Fraction(4, 5) * (1 - mean) ** 2
    floor = 0.5 * 2.0
    first = density(log(2), 0.0, floor) / 2
    second = density(log(2), float(mean) * log(2), float(variance) * log(2) ** 2 + floor) / 2
    assert np.exp(with_value - without)[:2].tolist() == near_list(first, second)
    # of the words with weights, in documents: "buy" 1.5 and "lunch" 2 and 2 in one class
    (letter,) = (b for b, g in zip(fitted.tally.blocks, fitted.tally.schema.groups, strict=True)
                 if getattr(g.kind, "idf", None) is not None)  # fmt: skip
    assert letter.terms.texts == ["buy", "lunch"]
    assert letter.stacked()[-1][:, COUNT].tolist() == [1.5, 4.0]
    assert fitted.tally.schema.kind("note").buckets == 8


def near_list(*numbers, of=1):
    return pytest.approx([float(Fraction(each) / of) for each in numbers], rel=1e-13)
