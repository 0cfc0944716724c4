"""Single records with text give what the one-row table gives, errors included."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.tokenizer import bags

RNG = np.random.default_rng(9)
WORDS = np.array(["win", "lottery", "lunch", "you", "über", "see", "now", "buy"])
EVENTS = ["multinomial", "boolean", "bernoulli", "complement"]


def table(n):
    def document():
        return " ".join(WORDS[RNG.integers(0, 8, RNG.integers(0, 7))])

    return {
        "income": RNG.normal(size=n),
        "mail": [document() if k % 9 else None for k in range(n)],
        "colour": RNG.choice(["red", "green"], n),
        "subject": [document() for _ in range(n)],
        "visits": RNG.integers(0, 4, n),
        "on": RNG.integers(0, 2, n),
    }


KINDS = {
    "mail": tb.Words(),
    "subject": tb.Words(ngrams=(1, 2), tf="log"),
    "visits": tb.Count(),
    "on": tb.Binary(),
}


def mixed(n_classes, event, alpha=1.0):
    n = 8 * n_classes
    tally = tb.Tally.of(table(n), np.arange(n) % n_classes, columns=KINDS)
    return tb.estimate(tally, tb.Text(event=event, alpha=alpha))


# few classes: written out line by line; many: gathered from tables
MODELS = {f"{n} classes, {event}": mixed(n, event) for n in (2, 5, 100) for event in EVENTS}
MODELS["bernoulli, nothing added"] = mixed(3, "bernoulli", alpha=0)
MODELS["100 classes, nothing added"] = mixed(100, "multinomial", alpha=0)
TEXTS = st.one_of(
    st.lists(st.sampled_from([*WORDS, "unknown", "Win!", "ÜBER"]), max_size=6).map(" ".join),
    st.text(max_size=5),
    st.sampled_from([None, np.nan, pd.NA, "", b"you win", b"\xff win", np.str_("lunch"), "\ud800"]),
)
ODD = [3, 2.5, True, ["win"], ["win", "now"], {}, {"a": 1}, 1j, np.int64(3), object]
VALUES = {
    "income": st.sampled_from([None, 0.3, -1, 1e6, np.nan]),
    "mail": TEXTS,
    "colour": st.sampled_from(["red", "blue", None]),
    "subject": TEXTS,
    "visits": st.sampled_from([0, 2, None]),
    "on": st.sampled_from([0, 1, None]),
}


def outcome(door):
    """What a door answers: the posterior, or the error, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = door()
        except tb.TallyBayesError as error:
            answer = str(error)
    return answer, bool(caught)


def agree(model, record):
    one, warned = outcome(lambda: model.posterior_of(record))
    row = {name: [record.get(name)] for name in model.schema.names}
    many, warned_too = outcome(lambda: model.posterior(row)[0].tolist())
    assert warned == warned_too
    if isinstance(one, str) or isinstance(many, str):
        assert one == many
    else:
        assert list(one) == list(model.classes)
        assert list(one.values()) == pytest.approx(many, rel=1e-9, abs=1e-300)
    return one


@pytest.fixture(scope="module", params=["plain", "compiled"])
def reader(request):
    """Read with the plain tokenizer, and with the compiled one."""
    with pytest.MonkeyPatch.context() as patch:
        worth = 0 if request.param == "compiled" else float("inf")
        patch.setattr(bags, "WORTH_LOADING", worth)
        patch.setattr(bags, "WORTH_CALLING", worth)
        yield request.param


@pytest.mark.parametrize("name", MODELS)
@given(record=st.fixed_dictionaries({}, optional=VALUES))
def test_a_record_has_the_posterior_of_its_row(reader, name, record):
    agree(MODELS[name], record)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_and_an_absent_text_leave_the_factor_out(name, missing):
    model = MODELS[name]
    absent = model.posterior_of({"income": 0.3})
    assert model.posterior_of({"income": 0.3, "mail": missing}) == pytest.approx(absent, rel=1e-12)
    assert model.posterior_of({"income": 0.3, "subject": missing}) == pytest.approx(absent)
    nothing = model.posterior_of({})
    assert list(nothing.values()) == pytest.approx(model.prior.tolist(), rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 100])
def test_an_empty_text_is_not_a_missing_one(n_classes):
    model = MODELS[f"{n_classes} classes, bernoulli"]
    empty, absent = (list(model.posterior_of(r).values()) for r in ({"mail": ""}, {}))
    assert np.abs(np.subtract(empty, absent)).max() > 1e-3
    model = MODELS[f"{n_classes} classes, multinomial"]
    empty, absent = (list(model.posterior_of(r).values()) for r in ({"mail": ""}, {}))
    assert empty == pytest.approx(absent)


@pytest.mark.parametrize("name", ["2 classes, multinomial", "100 classes, bernoulli"])
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_what_is_no_text_is_the_same_clear_error(name, odd):
    answer = agree(MODELS[name], {"mail": odd, "income": 0.3})
    assert isinstance(answer, str)
    assert "'mail'" in answer
    assert "text was expected" in answer


@pytest.mark.parametrize("name", ["2 classes, multinomial", "100 classes, multinomial"])
def test_an_unknown_column_is_an_error_and_the_target_is_not_looked_at(name):
    model = MODELS[name]
    with pytest.raises(tb.TallyBayesError, match=r"'mial'.*'mail'"):
        model.posterior_of({"mial": "win"})
    expected = model.posterior_of({"mail": "win"})
    assert model.posterior_of({"mail": "win", "class": 1}) == pytest.approx(expected, rel=1e-9)


def test_a_record_that_no_class_allows_warns_and_has_the_prior():
    tally = tb.Tally.of({"mail": ["win", "see"]}, ["s", "h"], columns={"mail": tb.Words()})
    model = tb.estimate(tally, tb.Text(alpha=0))
    with pytest.warns(tb.TallyBayesWarning, match="impossible"):
        assert model.posterior_of({"mail": "win see"}) == {"h": 0.5, "s": 0.5}


def test_a_stored_model_scores_records_as_before():
    import pickle

    model = MODELS["2 classes, bernoulli"]
    expected = model.posterior_of({"mail": "win lunch", "on": 1})
    assert (
        pickle.loads(pickle.dumps(model)).posterior_of({"mail": "win lunch", "on": 1}) == expected
    )
