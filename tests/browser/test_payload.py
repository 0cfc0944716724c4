"""What a browser computes from `model.payload()` is what the library computes."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from laws.own import Gaps, Whether
from tallybayes.families import Family, Parameters
from tallybayes.model.calibration import Calibration
from validation.registry import CLASSES, EVERY_SETTING

SCRIPT = Path(tb.__file__).parent / "web" / "naive_bayes.js"
EXTREME = (1e300, -1e300, 1e-300, 0, -3, float("inf"), float("-inf"))
UNUSUAL = {
    tb.Numeric: EXTREME,
    tb.Intervals: EXTREME,
    tb.Binary: (*EXTREME, True, "yes"),
    tb.Count: (*EXTREME, True, "many"),
    tb.Categories: ("purple", 99, True),
    tb.Words: ("Grey RED, never_seen! \u0391\u03a3 red", "x" * 100, "only  once\there"),
}
CALIBRATIONS = {
    "as it is": None,
    "temperature": Calibration("temperature", default=0.4, prior=1.7),
    "weights": Calibration("weights", {"x0": 0.0, "colour": 0.3, "mail": 2.5}, 0.8, prior=0.0),
}
COMPUTE = """async ([script, work]) => {
    const url = URL.createObjectURL(new Blob([script], {type: "text/javascript"}));
    const {posterior, predict, terms} = await import(url);
    return work.map(([text, records]) => {
        const model = JSON.parse(text);
        return records.map(record => {
            try {
                const p = posterior(model, record);
                return [p, predict(model, record), terms(model, record)];
            } catch (error) { return error.message; }
        });
    });
}"""


@pytest.fixture
def computed(browser):
    """Give pairs of a model and records to the browser: posterior, answer and terms of each."""
    page = browser.new_page()

    def compute(*work, **options):
        sent = [(json.dumps(m.payload(**options), allow_nan=False), r) for m, r in work]
        return page.evaluate(COMPUTE, [SCRIPT.read_text(), sent])

    yield compute
    page.close()


def records_of(setting, n=12):
    """Return records: usual ones, some with gaps, and one for each unusual value."""
    names = setting.names
    usual = [dict(zip(names, cells, strict=True)) for _, _, cells in setting.examples(n, seed=1)]
    gaps = [{names[0]: record[names[0]]} for record in usual[:3]]
    unusual = [
        {**usual[0], name: value}
        for name, kind in zip(names, setting.kinds, strict=True)
        for value in UNUSUAL[type(kind)]
    ]
    return [{}, dict.fromkeys(names), *usual, *gaps, *unusual, {"no such column": 1}]


def posterior_of(model, record):
    """Return the posterior as the library has it; None if it refuses the record."""
    try:
        return list(model.posterior_of(record).values())
    except tb.TallyBayesError:
        return None


@pytest.mark.filterwarnings("ignore:row 0 is impossible")
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_posteriors_and_answers_are_those_of_the_library(computed, calibration):
    work = []
    for setting in EVERY_SETTING:
        labels, _, rows = zip(*setting.examples(16), strict=True)
        tally = tb.Tally.of(setting.source(list(rows)), labels, schema=setting.schema)
        recipe = replace(
            setting.recipe(), calibration=CALIBRATIONS[calibration], positive=CLASSES[0]
        )
        work.append((recipe.model(tally), records_of(setting)))
    for setting, (model, records), found in zip(EVERY_SETTING, work, computed(*work), strict=True):
        for record, result in zip(records, found, strict=True):
            expected = posterior_of(model, record)
            if expected is None:
                assert isinstance(result, str), (setting, record, result)
                continue
            assert not isinstance(result, str), (setting, record, result)
            p, answer, terms = result
            assert p == pytest.approx(expected, abs=1e-9), (setting, record)
            assert p[model.classes.index(answer)] >= max(expected) - 1e-9, (setting, record)
            sums = np.add(model.log_prior, np.sum(terms, axis=0))
            if np.isfinite(sums).all():
                p = np.exp(sums - sums.max())
                assert p / p.sum() == pytest.approx(expected, abs=1e-9), (setting, record)


RNG = np.random.default_rng(0)
GAPS = RNG.random((4, 500)) < 0.15
HOURS, AGE = RNG.gamma(4.0, 10.0, 500), RNG.normal(40.0, 12.0, 500)
WORK, TOWN = RNG.choice(["state", "own", "firm"], 500), RNG.choice([1, 2, 3], 500)
Y = np.where((AGE > 40) == (WORK == "own"), "much", np.where(HOURS > 40, "some", "little"))
TABLE = {
    "age": np.where(GAPS[0], np.nan, AGE),
    "hours": np.where(GAPS[1], np.nan, HOURS).round(),
    "work": [None if gap else str(value) for gap, value in zip(GAPS[2], WORK, strict=True)],
    "town": TOWN,
    "steady": RNG.random(500) < 0.5,
    "note": np.where(RNG.random(500) < 0.5, "long day", np.where(Y == "much", "new car", "")),
}


def test_one_bell_curve_of_columns_is_computed(computed):
    x = np.random.default_rng(3).normal(size=(80, 4))
    X = {name: x[:, k] + x[:, 0] for k, name in enumerate("abcd")}
    m = tb.SemiNaiveBayes(joints=[tuple("abcd")]).fit(X, np.where(x[:, 1] * x[:, 2] > 0, "p", "q"))
    assert "joint quadratic" in {term["term"]["form"] for term in m.model_.payload()["columns"]}
    records = [{n: float(v[k]) for n, v in X.items()} for k in range(20)]
    records += [{**records[0], "c": None}, {**records[1], "a": 1e30}]
    (found,) = computed((m.model_, records))
    for record, (shares, answer, _) in zip(records, found, strict=True):
        expected = m.model_.posterior_of(record)
        np.testing.assert_allclose(shares, list(expected.values()), rtol=1e-9, atol=1e-12)
        assert answer == m.predict({n: [v] for n, v in record.items()})[0]


def test_views_of_columns_and_columns_together_are_computed(computed):
    joints = [("age", "work"), ("hours", "age"), ("work", "town", "age"), ("steady", "town")]
    columns, model = {"note": "text"}, tb.SemiNaiveBayes
    models = [model(columns, joints=each).fit(TABLE, Y).model_ for each in ("auto", joints)]
    terms = [term for m in models for term in m.payload()["columns"]]
    assert {len(term["reads"]) for term in terms} == {1, 2, 3}
    values = {
        "age": [None, -5.0, 17, 38.25, 44.0, 1e9],
        "hours": [None, 0, 40, 41.5, float("nan")],
        "work": [None, "state", "own", "nowhere"],
        "town": [None, 1, 2, 9, 2.5],
        "steady": [None, True, False],
        "note": ["new car", "", None],
    }
    records = [{n: RNG.choice(np.array(v, object)) for n, v in values.items()} for _ in range(300)]
    records = [{n: x for n, x in record.items() if RNG.random() < 0.9} for record in records]
    for m, found in zip(models, computed(*((m, records) for m in models)), strict=True):
        for record, (p, *_) in zip(records, found, strict=True):
            assert p == pytest.approx(list(m.posterior_of(record).values()), abs=1e-9), record
    (refused,) = computed((models[1], [{"age": "old"}]))
    assert refused == ['column "age": "old" is not a number']


@pytest.mark.parametrize("positive", [None, False, True])
def test_ties_go_to_the_first_class_and_to_a_positive_one_last(computed, positive):
    tally = tb.Tally.of({"x": ["u", "v", "u", "v"]}, [False, False, True, True])
    model = tb.estimate(tally, positive=positive)
    (((p, answer, _),),) = computed((model, [{"x": "u"}]))
    assert p == [0.5, 0.5]
    assert answer == model.predict({"x": ["u"]})[0]


TEXTS = (
    "Grüße aus ΑΘΗΝΑΣ, İstanbul; naïve_Bayes ½ x² 中文字 مرحبا हिन्दी शब्द 😀 a I'm",
    "tabs\tand  blanks\u2003\u3000here\x1cand\x85there \ufeff ok\u200dok",
    "",
    "...",
)


@pytest.mark.parametrize(
    "words",
    [
        tb.Words(),
        tb.Words(lowercase=False, min_length=1),
        tb.Words("unicode", ngrams=(1, 3)),
        tb.Words("whitespace", ngrams=(2, 2)),
        tb.Words("characters", ngrams=(1, 2)),
        tb.Words(stop_words=("AUS", "and")),
    ],
    ids=repr,
)
def test_texts_are_read_as_the_library_reads_them(computed, words):
    family = tb.Text(words)
    tally = tb.Tally.of({"mail": [*TEXTS, "ok x"]}, [*"abaab"], columns={"mail": family})
    model = tb.estimate(tally, family)
    found = computed((model, [{"mail": text} for text in TEXTS]))[0]
    for text, (p, *_) in zip(TEXTS, found, strict=True):
        assert p == pytest.approx(list(model.posterior_of({"mail": text}).values()), abs=1e-9)


@pytest.mark.filterwarnings("ignore:the words calibration lowers")
def test_words_have_their_exponents_and_long_texts_count_less(computed):
    texts = [text for text in TEXTS if text.strip()] * 3
    model = tb.TextNB(calibration="words").fit(texts, (["a", "b"] * len(texts))[: len(texts)])
    records = [{"text": f"{text} {other}"} for text in texts[:5] for other in texts[3:6]]
    for record, (p, *_) in zip(records, computed((model.model_, records))[0], strict=True):
        expected = list(model.posterior_of(record["text"]).values())
        assert p == pytest.approx(expected, abs=1e-9)


def test_letters_are_the_same_in_both_languages(browser):
    """But for characters that only the newer version of Unicode has; few lie further up."""
    page = browser.new_page()
    every = [c for c in map(chr, range(0x33480)) if not 0xD800 <= ord(c) < 0xE000]
    pattern = tb.Words(min_length=1).pattern()["pattern"]
    found = set(page.evaluate("([t, p]) => t.match(new RegExp(p, 'gu')).join('')",
                              ["".join(every), pattern]))  # fmt: skip
    page.close()
    assert not set(re.findall(r"\w", "".join(every))) - found
    assert len(found) > 130_000


def test_a_bag_of_words_counts_as_the_text_that_has_them(computed):
    plain = tb.Text(tb.Words(tf="log", norm="l2"))
    odd = tb.Text(tb.Words(str.split))
    table = {"mail": ["buy lottery buy", "see you", "you buy"]}
    models = [tb.estimate(tb.Tally.of(table, [*"aba"], columns={"mail": f}), f)
              for f in (plain, odd)]  # fmt: skip
    bag = {"mail": {"buy": 2, "lottery": 1, "unknown": 5, "you": 0}}
    found = computed(*((model, [bag, {"mail": "Buy, buy lottery"}]) for model in models))
    for model, results in zip(models, found, strict=True):
        expected = list(model.posterior_of({"mail": "buy buy lottery"}).values())
        assert results[0][0] == pytest.approx(expected, abs=1e-9)
    assert found[0][0] == found[0][1]
    assert "give a bag" in found[1][1]  # a function is the library's alone


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_of_many_words_the_most_informative_are_kept_and_it_says_so(computed, event):
    family = tb.Text(event=event)
    mails = ["win money now", "win money soon", "meet me now", "meet me soon"]
    model = tb.estimate(tb.Tally.of({"mail": mails}, [*"sshh"], columns={"mail": family}), family)
    payload = model.payload(most_words=4)
    assert sorted(payload["columns"][0]["term"]["words"]) == ["me", "meet", "money", "win"]
    assert payload["notes"] == [
        "mail: only the 4 most informative of 6 words are here, so that posteriors of texts with "
        "other words differ"
    ]
    (((p, *_),),) = computed((model, [{"mail": "win money"}]), most_words=4)
    assert p == pytest.approx(list(model.posterior_of({"mail": "win money"}).values()), abs=1e-9)


@dataclass(frozen=True)
class Known(Parameters):
    """Parameters of which nothing is known but log_prob."""

    of: Parameters

    def log_prob(self, block):
        return self.of.log_prob(block)

    def select(self, units):
        return Known(self.of.select(units))


class Own(Family, frozen=True):
    """A family of one's own."""

    like: Family

    @property
    def kind(self):
        return self.like.kind

    def estimate(self, counted, info):
        return Known(self.like.estimate(counted, info))


def test_values_of_a_family_of_ones_own_are_a_table_and_its_numbers_are_refused(computed):
    table = {"size": ["S", "L", "L", None], "cm": [1.0, 2.0, 3.0, 4.5]}
    model = tb.estimate(tb.Tally.of({"size": table["size"]}, [*"abab"]), Own(tb.Categorical()))
    found = computed((model, [{"size": "L"}, {"size": None}, {"size": "XL"}]))[0]
    for record, (p, *_) in zip([{"size": "L"}, {}], found[:2], strict=True):
        assert p == pytest.approx(list(model.posterior_of(record).values()), abs=1e-9)
    assert found[2] == 'column "size": "XL" is not a known value'
    numbers = tb.estimate(tb.Tally.of({"cm": table["cm"]}, [*"abab"]), Own(tb.Gaussian()))
    with pytest.raises(tb.TallyBayesError, match=r"'cm' cannot be written down.*term\(unit\)"):
        numbers.payload()


def test_a_kind_that_makes_something_else_of_the_values_is_refused():
    schema = tb.Schema.of(["income"], [tb.Numeric()]).with_extra(Gaps(), "income")
    tally = tb.Tally.of({"income": [1.0, None, 2.0]}, [*"aba"], schema=schema)
    with pytest.raises(tb.TallyBayesError, match=r"'income is missing' cannot be written down"):
        tb.estimate(tally, Whether()).payload()
