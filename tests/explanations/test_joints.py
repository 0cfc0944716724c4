"""Columns counted in several ways, and together: one line each, which can be unfolded."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from xml.etree import ElementTree

import numpy as np
import pytest

import tallybayes as tb
from evidence.test_joint import PAIR, PLAIN, term_by_hand
from explanations.cases import working
from explanations.test_counterfactuals import answers, assert_holds, changes_answer, columns_of
from explanations.test_working_numbers import assert_right
from tallybayes.explanations import counterfactuals, explain
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration

RNG = np.random.default_rng(0)
N = 600
AGE, HOURS, WORK = RNG.normal(40.0, 12.0, N), RNG.integers(10, 60, N), RNG.choice([*"uvw"], N)
Y = np.where((AGE > 40) == (WORK == "u"), "much", np.where(HOURS > 30, "some", "little"))
TABLE = {
    "age": np.where(RNG.random(N) < np.where(Y == "much", 0.3, 0.05), np.nan, AGE),
    "hours": HOURS.astype(float),
    "work": WORK,
}
JOINTS = [("age", "work"), ("age", "hours", "work")]
RECORDS = [
    {"age": 30.0, "hours": 25.0, "work": "u"},
    {"age": 61.5, "hours": 50.0, "work": "v"},
    {"age": None, "hours": 12.0, "work": "w"},
    {"age": 44.0, "hours": None, "work": "never seen"},
    {},
]


@pytest.fixture(scope="module", params=["auto", JOINTS], ids=["found", "stated"])
def model(request):
    return tb.SemiNaiveBayes(joints=request.param).fit(TABLE, Y).model_


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_lines_are_what_the_model_loses_without_all_that_reads_their_columns(model, record):
    found = explain(model, record)
    joints = [line.column for line in found.terms[3:]]
    assert [line.column for line in found.terms[:3]] == list(TABLE)
    assert "age x work" in joints
    assert len(joints) == len(set(joints))
    row = {name: [record.get(name)] for name in TABLE}
    for line in found.terms:
        names = {part.column for part in line.parts or (line,)}
        assert all(" x ".join(model.column(name).reads) == line.column for name in names)
        rest = [
            replace(factor, exponents=factor.exponents * ~np.isin(factor.names, list(names)))
            for factor in model.factors
        ]
        without = replace(model, factors=tuple(rest))
        lost = model.joint_log_likelihood(row) - without.joint_log_likelihood(row)
        np.testing.assert_allclose(line.log_likelihood, lost[0], atol=1e-9)
    total = np.sum([line.log_likelihood for line in found.terms], axis=0) + found.log_prior
    np.testing.assert_allclose(total, model.joint_log_likelihood(row)[0], atol=1e-9)
    prior = np.log(found.prior) + found.constants
    np.testing.assert_allclose(found.log_prior, prior, atol=1e-12)
    contrast = found.against("much", "some")
    bits = contrast.prior + math.fsum(each.bits for each in contrast.evidence)
    assert bits == pytest.approx(contrast.total, abs=1e-9)
    for each in contrast.evidence:
        parts = math.fsum(part.bits for part in each.parts)
        assert not each.parts or parts == pytest.approx(each.bits, abs=1e-9)
    many = tb.explain_all(model, row)
    assert many.names == tuple(line.column for line in found.terms)
    parts = [line.log_likelihood for line in found.terms]
    np.testing.assert_allclose(many.terms[0], parts, atol=1e-9)
    np.testing.assert_allclose(many.joint[0], found.joint, atol=1e-9)


def test_lines_are_folded_until_somebody_unfolds_them(model):
    found = explain(model, RECORDS[0])
    age, *_, pair = (line for line in found.terms if line.column in ("age", "age x work"))
    assert {"Gaussian", "in smooth parts", "is missing"} <= {part.called for part in age.parts}
    assert (age.value, age.title) == (30.0, "age = 30")
    assert (pair.value, pair.title) == ("30, u", "age with work = 30, u")
    folded, unfolded = str(found), str(explain(model, RECORDS[0], "parts"))
    assert "\n· " not in folded
    lines = [line.split() for line in unfolded.splitlines() if not line.startswith("·")]
    assert lines == [line.split() for line in folded.splitlines()]
    for line in found.terms:
        for part in line.used if line.parts else ():
            assert f"\n· {part.called} " in unfolded
    page = ElementTree.fromstring(found.to_html())
    (details,) = page.iter("details")
    assert page[-1].text == " ".join(folded[folded.index("The answer") :].split())
    assert details.find("summary").text.startswith("each way")
    assert sum(row[0].text.startswith("·") for row in details.iter("tr")) == unfolded.count("\n· ")
    assert not list(
        ElementTree.fromstring(explain(model, RECORDS[0], "parts").to_html()).iter("details")
    )
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    (line,) = (each for each in data["terms"] if each["column"] == "age")
    total = np.sum([part["log_likelihood"] for part in line["parts"]], axis=0)
    np.testing.assert_allclose(total, line["log_likelihood"], atol=1e-9)
    (line,) = (each for each in data["against"]["evidence"] if each["column"] == "age")
    assert math.fsum(part["bits"] for part in line["parts"]) == pytest.approx(line["bits"])


def test_what_is_missing_is_evidence_and_what_is_not_known_is_left_out(model):
    gone, unseen = (explain(model, record) for record in RECORDS[2:4])
    (age,) = (each.term for each in gone.against().evidence if each.term.column == "age")
    assert (age.value, age.left_out, age.title) == (None, None, "age = missing")
    assert [part.called for part in age.used if any(part.log_likelihood)]
    assert gone.decision == "much"
    reasons = {line.column: (line.value, line.left_out) for line in unseen.terms}
    assert reasons["work"] == ("never seen", "never seen before")
    assert reasons["hours"] == (None, "missing")
    assert reasons["age x work"][1] == "never seen before"
    assert "age with work" in str(unseen)


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_every_number_of_the_working_follows(model, record):
    found = working(model, record)
    assert_right(model, record, found)
    for each in found.derivations:
        assert each.counts is None or " x " in each.line or " with " in each.line
    assert "The score of each class is also multiplied by its constant" in str(found)
    for written in (found.to_markdown(), found.to_latex(), found.to_html()):
        assert "Answer" in written


CELLS = [("blue", "big"), ("red", None), ("red", "small"), ("blue", "big"), ("red", "big")]


def test_a_joint_is_derived_from_its_own_table_of_counts():
    rows = list(zip("aabba", CELLS, strict=True))
    table = {name: [cell[k] for cell in CELLS] for k, name in enumerate(("colour", "size"))}
    schema = PLAIN.with_extra(PAIR, ("colour", "size"))
    tally = tb.Tally.of(table, list("aabba"), schema=schema)
    calibration = Calibration("evidence", {"colour": 1.0, "size": 1.0, "colour x size": 0.5})
    for recipe in (Recipe(), Recipe(calibration=calibration)):
        model = recipe.model(tally)
        found = working(model, {"colour": "blue", "size": "big"})
        assert_right(model, {"colour": "blue", "size": "big"}, found)
        (joint,) = (each for each in found.derivations if each.counts)
        assert joint.counts.heads == ["class", "colour = blue", "size = big", "both", "in all"]
        assert joint.counts.rows == (("a", 1, 2, 1, 3), ("b", 1, 1, 1, 2))
        said = [" ".join(line.split()) for line in str(found).split("\n  ")]
        # two of three of a are big, of big, small and missing; 2 x 3 cells
        assert "P(size = big | a) = (2 + 1)/(3 + 3) = 3/6 = 1/2 = 0.5" in said
        assert "P(colour = blue, size = big | a) = (1 + 6 x 2/5 x 3/6)/(3 + 6) = 0.2444" in said
        terms = [term_by_hand(rows, c, ("blue", "big"), Fraction(1)) for c in "ab"]
        power = 1.0 if recipe.calibration is None else 0.5
        np.testing.assert_allclose(joint.logs, np.multiply(terms, power), atol=1e-12)
    exact = working(Recipe().model(tally), {"colour": "blue", "size": "big"}).scores
    # P(a), P(blue | a) and P(big | a) of the columns themselves, and the term
    term = (1 + 6 * Fraction(2, 5) * Fraction(1, 2)) / 9 / (Fraction(2, 5) * Fraction(1, 2))
    assert exact["a"] == Fraction(3, 5) * Fraction(2, 5) * Fraction(3, 4) * term


SMALL = {"a": [*"ppqqpqpq"] * 6, "b": [*"rsrsrrss"] * 6, "c": [*"tttuuvvu"] * 6}
DIFFER = [x + y for x, y in zip(SMALL["a"], SMALL["b"], strict=True)]
XOR = ["same" if both in ("pr", "qs") else "other" for both in DIFFER]


@pytest.mark.parametrize("joints", [[("a", "b")], [("a", "b"), ("a", "b", "c")]])
def test_changes_are_all_that_brute_force_over_the_values_finds(joints):
    labels = ["third" if x == "v" else y for x, y in zip(SMALL["c"], XOR, strict=True)]
    model = tb.SemiNaiveBayes(joints=joints).fit(SMALL, labels).model_
    values = {name: sorted(set(column)) for name, column in SMALL.items()}
    for cells in product(*([*each, None] for each in values.values())):
        record = dict(zip(SMALL, cells, strict=True))
        (now,) = answers(model, [record])
        for to in (None, *(each for each in model.classes if each != now)):
            found = counterfactuals(model, record, to=to, most=100)
            assert_holds(model, record, found, to)
            flips = {}
            for names in [*((name,) for name in values), *combinations(values, 2)]:
                changed = [
                    {**record, **dict(zip(names, others, strict=True))}
                    for others in product(*(values[name] for name in names))
                    if all(record[n] != x for n, x in zip(names, others, strict=True))
                ]
                flips[names] = changed_to = changes_answer(model, record, to, changed)
                if len(names) == 2 and changed_to.any():
                    alone = [
                        any(changes_answer(model, record, to, [{**record, n: each[n]}])[0]
                            for n in names) for each in changed
                    ]  # fmt: skip
                    flips[names] = changed_to & ~np.array(alone)
            singles = {names for names, does in flips.items() if len(names) == 1 and does.any()}
            pairs = {names for names, does in flips.items() if len(names) == 2 and does.any()}
            assert set(columns_of(found)) == (singles or pairs), (record, to)
