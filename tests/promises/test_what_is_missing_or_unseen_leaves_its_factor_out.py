"""What is missing or unseen leaves its factor out: the answer is that of a model without it."""

import warnings

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.model import Recipe
from validation.registry import SETTINGS

# of a bag of counts the columns are one factor, and share what they add up to
# (an alpha a column, and a choice of words among all, are not for some of the columns)
BY_COLUMN = [
    each
    for each in SETTINGS
    if isinstance(each.source([(0,) * len(each.kinds)]), dict)
    and each.name not in ("categories, an alpha a column", "text that is refitted, beside numbers")
]


def model_of(setting, rows, names):
    places = [setting.names.index(name) for name in names]
    labels, _, cells = zip(*rows, strict=True)
    columns = {name: [row[k] for row in cells] for name, k in zip(names, places, strict=True)}
    schema = tb.Schema.of(names, [setting.kinds[k] for k in places])
    tally = tb.Tally.of(columns, labels, schema=schema)
    own = {name: family for name, family in setting.columns.items() if name in names}
    return Recipe(setting.families, own).model(tally)


@pytest.mark.parametrize("setting", BY_COLUMN, ids=str)
@pytest.mark.filterwarnings("ignore:row .* impossible")
def test_a_missing_value_is_as_if_its_column_were_not_there(setting):
    rows = setting.examples(14)
    whole = model_of(setting, rows, setting.names)
    for *_, cells in setting.examples(4, seed=3):
        record = dict(zip(setting.names, cells, strict=True))
        for gap in setting.names:
            rest = [name for name in setting.names if name != gap]
            found = list(whole.posterior_of({**record, gap: None}).values())
            if rest:
                part = model_of(setting, rows, rest)
                expected = list(part.posterior_of({name: record[name] for name in rest}).values())
            else:
                expected = whole.prior
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


ROWS = {"x": ["u", "u", "v", "v"], "z": ["s", "t", "t", "t"]}
LABELS = list("aabb")


@pytest.mark.parametrize(
    ("unseen", "expected"),
    [
        ("ignore", [2 / 4 * 1 / 2, 1 / 4 * 1 / 2]),  # of z = s alone
        ("smooth", [2 / 4 * 1 / 2 * 1 / 5, 1 / 4 * 1 / 2 * 1 / 5]),
    ],
)
def test_a_value_never_seen_is_ignored_or_smoothed(unseen, expected):
    model = tb.NaiveBayes("categorical", unseen=unseen).fit(ROWS, LABELS)
    found = model.predict_proba({"x": ["w"], "z": ["s"]})[0]
    np.testing.assert_allclose(found, np.array(expected) / sum(expected), rtol=1e-12)


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli", "complement"])
def test_words_outside_the_vocabulary_are_ignored_at_any_length(event):
    model = tb.TextNB(event=event).fit(["win cash now", "lunch now", "see you"], list("sha"))
    known, more = "cash lunch", "cash strange lunch " + "words " * 500
    np.testing.assert_allclose(
        model.predict_proba([known]), model.predict_proba([more]), rtol=1e-12
    )


def test_a_row_of_gaps_only_is_counted_for_the_prior_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tb.NaiveBayes("categorical").fit(
            {name: [*values, None] for name, values in ROWS.items()}, [*LABELS, "b"]
        )
    np.testing.assert_allclose(model.predict_proba({"x": [None], "z": [None]}), [[2 / 5, 3 / 5]])
    found = model.predict_proba({"x": ["u"], "z": [None]})[0]
    joint = np.array([2 / 5 * 3 / 4, 3 / 5 * 1 / 4])
    np.testing.assert_allclose(found, joint / joint.sum(), rtol=1e-12)
