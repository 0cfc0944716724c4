"""The door for single records gives what the door for tables gives, errors included."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes.tokenizer import bags
from tiers import crossed

KINDS = {
    "n": tb.Numeric(),
    "k": tb.Numeric(),
    "i": tb.Categories(),
    "w": tb.Count(),
    "v": tb.Count(),
    "e": tb.Count("events"),
    "s": tb.Binary(0.5),
    "l": tb.Numeric(log=True),
    "cut": tb.Intervals((-1.0, 0.5)),
    "mail": tb.Words(),
    "subject": tb.Words(ngrams=(1, 2), tf="log"),
}
WORDS = np.array(["win", "lottery", "lunch", "you", "über", "see", "now", "buy"])


def table(rng, n):
    documents = [" ".join(rng.choice(WORDS, rng.integers(0, 7))) for _ in range(2 * n)]
    return {
        "n": rng.normal(size=n),
        "k": rng.integers(-50, 50, n),
        "t": rng.choice(["red", "green", "blue"], n),
        "b": rng.random(n) < 0.3,
        "i": rng.integers(0, 5, n),
        "f": [None] * n,
        "w": rng.integers(0, 4, n),
        "v": rng.integers(0, 2, n),
        "e": rng.integers(0, 9, n),
        "s": rng.random(n),
        "l": rng.lognormal(size=n),
        "cut": rng.normal(size=n),
        "mail": [text if k % 9 else None for k, text in enumerate(documents[:n])],
        "subject": documents[n:],
    }


def mixed(n_classes, *families):
    rng = np.random.default_rng(3)
    n = 12 * n_classes
    tally = tb.Tally.of(table(rng, n), np.arange(n) % n_classes, columns=KINDS)
    return tb.estimate(tally, tb.Poisson(bag="events"), *families)


def numeric(n_columns, n_classes, family=tb.Gaussian()):  # noqa: B008
    rng = np.random.default_rng(5)
    y = np.arange(8 * n_classes) % n_classes
    x = rng.normal(size=(len(y), n_columns)) + y[:, None] / 9
    x[:, -1] = 1.0  # a constant column, which says nothing
    if type(family) is not tb.Gaussian:
        x = np.abs(x).round() + 1.0  # counts, or what has a logarithm
    kinds = {f"x{j}": family for j in range(n_columns)}
    return tb.estimate(tb.Tally.of(x, y, columns=kinds), family)


MODELS = {
    "two classes": mixed(2),
    "maximum likelihood": mixed(3, tb.Categorical(alpha=0), tb.Bernoulli(alpha=0, threshold=0.5)),
    "unseen smoothed": mixed(3, tb.Categorical(unseen="smooth")),
    "unseen refused": mixed(3, tb.Categorical(unseen="error")),
    "complement": mixed(4, tb.Complement()),
    "70 classes": mixed(70),
    "70 classes, maximum likelihood": mixed(70, tb.Categorical(alpha=0), tb.Multinomial(alpha=0)),
    "texts by presence": mixed(3, tb.Text(event="bernoulli", alpha=0)),
    "texts once": mixed(5, tb.Text(event="boolean")),
    "texts by the others": mixed(2, tb.Text(event="complement")),
    "texts, nothing added": mixed(3, tb.Text(alpha=0)),
}
NUMERIC = {
    "narrow": numeric(4, 3),
    "wide": numeric(70, 20),
    "wide, logarithms": numeric(70, 3, tb.LogNormal()),
    "wide, counts": numeric(70, 3, tb.Poisson()),
}


def numbers(least=-1e6, greatest=1e6):
    decimal = st.floats(least, greatest)
    whole = st.integers(int(least), int(greatest))
    return st.one_of(
        st.sampled_from([None, np.nan, float("nan"), 0, 1, True, False, pd.NA, np.float32("nan")]),
        decimal,
        whole,
        decimal.map(np.float64),
        whole.map(np.int64),
        st.booleans().map(np.bool_),
    )


ODD = ["odd", b"odd", [1], {}, 1j, np.inf, -np.inf, -1, pd.NaT, ["win", "now"], object]
DOCUMENTS = st.one_of(
    st.lists(st.sampled_from([*WORDS, "unknown", "Win!", "ÜBER"]), max_size=6).map(" ".join),
    st.text(max_size=5),
    st.sampled_from([None, np.nan, pd.NA, "", b"you win", b"\xff win", np.str_("lunch"), "\ud800"]),
)
TEXT = st.sampled_from(["red", "green", "blue", "mauve", "", None, np.nan, np.str_("red"), pd.NA])
VALUES = {
    "n": numbers(),
    "k": numbers(),
    "t": TEXT,
    "b": st.sampled_from([True, False, None, np.True_, np.False_, 0, 1, 2, np.nan, 1.0]),
    "i": st.sampled_from([0, 1, 4, 7, -3, 2.0, 2.5, True, None, np.nan, np.int8(3), np.float64(1)]),
    "f": st.sampled_from([None, "anything", 3, True]),
    "w": numbers(0, 1e3),
    "v": numbers(0, 1e3),
    "e": numbers(0, 1e3),
    "s": numbers(),
    "l": numbers(),
    "cut": numbers() | st.sampled_from([np.inf, -np.inf]),
    "mail": DOCUMENTS,
    "subject": DOCUMENTS,
}
RECORDS = st.fixed_dictionaries({}, optional=VALUES)


def outcome(door):
    """What a door answers: the posterior, or the error, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = door()
        except tb.TallyBayesError as error:
            answer = str(error)
    assert all(issubclass(each.category, tb.TallyBayesWarning) for each in caught)
    return answer, bool(caught)


def agree(model, record):
    one, warned = outcome(lambda: model.posterior_of(record))
    row = {name: [record.get(name)] for name in model.schema.names}
    many, warned_too = outcome(lambda: model.posterior(row)[0].tolist())
    assert warned == warned_too
    if isinstance(many, str) or isinstance(one, str):
        assert one == many
    else:
        assert list(one) == list(model.classes)
        assert list(one.values()) == pytest.approx(many, rel=1e-9, abs=1e-300)
        assert sum(one.values()) == pytest.approx(1.0)


@pytest.fixture(scope="module", params=["plain", "compiled"])
def reader(request):
    """Read with the plain tokenizer, and with the compiled one."""
    with pytest.MonkeyPatch.context() as patch:
        worth = 0 if request.param == "compiled" else float("inf")
        patch.setattr(bags, "WORTH_LOADING", worth)
        patch.setattr(bags, "WORTH_CALLING", worth)
        yield request.param


@pytest.mark.parametrize("which", MODELS)
@given(record=RECORDS)
def test_a_record_gets_what_its_row_gets(reader, which, record):
    agree(MODELS[which], record)


@pytest.mark.parametrize(("value", "which"), crossed(ODD, MODELS, every=5))
def test_an_odd_value_gets_the_error_that_its_row_gets(which, value):
    for name in VALUES:
        if name != "f":  # nothing was ever counted there, so anything is ignored
            agree(MODELS[which], {name: value})


@pytest.mark.parametrize("which", NUMERIC)
@given(data=st.data())
def test_a_record_of_numbers_gets_what_its_row_gets(which, data):
    model = NUMERIC[which]
    names = st.sampled_from(list(model.schema.names))
    agree(model, data.draw(st.dictionaries(names, numbers(-10, 10), max_size=30)))


def test_names_and_thresholds_may_be_numpy_scalars():
    model = tb.stated({"a": 0.5, "b": 0.5}, {np.str_("c"): {"a": 0.2, "b": 0.6}})
    assert model.posterior_of({"c": True})["b"] == pytest.approx(0.75)
    tally = tb.Tally.of(
        {"c": [1, 2, 3, 4]}, [0, 0, 1, 1], columns={"c": tb.Binary(np.float64(2.5))}
    )
    assert tb.estimate(tally).posterior_of({"c": 3})[1] == pytest.approx(0.75)
