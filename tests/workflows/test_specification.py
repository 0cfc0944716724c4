"""What the user types of columns, labels and families."""

import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes.families import FAMILIES
from tallybayes.model.specification import ModelSpec, label_of, parse_column, parse_family


@pytest.mark.parametrize("word", FAMILIES)
def test_every_family_can_be_typed(word):
    assert parse_column(f"x={word}") == ("x", FAMILIES[word]())
    assert parse_column(f"x={word.replace('_', '-').upper()}") == ("x", FAMILIES[word]())


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("gaussian:ddof=0", tb.Gaussian(ddof=0)),
        ("gaussian:floor=0.01", tb.Gaussian(floor=tb.RelativeFloor(0.01))),
        ("log-normal:ddof=0.5", tb.LogNormal(ddof=0.5)),
        ("categorical:alpha=1/3", tb.Categorical(alpha=1 / 3)),
        ("categorical:m=3,p=0.2,unseen=error", tb.Categorical(m=3, p=0.2, unseen="error")),
        ("categorical: m = 3 , p = 0.2", tb.Categorical(m=3, p=0.2)),
        (
            "categorical:m=3,p=Yes:1/3;No:2/3",
            tb.Categorical(m=3, p=tb.ByClass({"Yes": 1 / 3, "No": 2 / 3})),
        ),
        ("bins:edges=18", tb.Bins((18,))),
        ("bins:edges=-1.5;0;1e3", tb.Bins((-1.5, 0, 1000))),
        ("bernoulli:threshold=-2", tb.Bernoulli(threshold=-2)),
        ("complement:norm=true,bag=w", tb.Complement(norm=True, bag="w")),
        ("text:ngrams=1;2,lowercase=False", tb.Text(tb.Words(ngrams=(1, 2), lowercase=False))),
        ("text:min_df=2,max_df=0.5", tb.Text(min_df=2, max_df=0.5)),
        ("text:min_df=0.1", tb.Text(min_df=0.1)),
        ("text:vocabulary=none", tb.Text(vocabulary=("none",))),
        ("text:stop_words=true;1;the", tb.Text(tb.Words(stop_words=("true", "1", "the")))),
        ("text:tf=log,event=boolean", tb.Text(tb.Words(tf="log"), event="boolean")),
        ("text:max_features=none", tb.Text()),
    ],
)
def test_options_are_read_as_the_families_take_them(text, meant):
    assert parse_family(text) == meant


@given(st.text(min_size=1).filter(lambda name: "=" not in name))
def test_any_name_without_the_sign_of_equality_is_itself(name):
    assert parse_column(f"{name}=bins:edges=1;2") == (name, tb.Bins((1, 2)))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("income", r"'income' does not say what a column is; write NAME=FAMILY"),
        ("income=", "does not say what a column is"),
        ("=gaussian", "does not say what a column is"),
        ("x=gausian", "there is no family 'gausian'; did you mean 'gaussian'"),
        ("x=gausian:ddof=0", "there is no family 'gausian'; did you mean 'gaussian'"),
        ("x=gaussian:alpha=1", "gaussian has no option 'alpha'; known: 'ddof', 'floor'"),
        ("x=categorical:alhpa=1", "categorical has no option 'alhpa'; did you mean 'alpha'"),
        ("x=categorical:alpha", "'alpha' is not an option; write name=value"),
        ("x=categorical:alpha=much", "alpha is 'much'; it must be a number"),
        ("x=text:idf=1", "text has no option 'idf'"),
        ("x=text:words=1", "text has no option 'words'"),
        ("x=bins:edges=2;1", "the edge 2 stands before 1"),
        ("x=gaussian:floor=low", "fraction is 'low'"),
    ],
)
def test_what_cannot_be_read_says_why(text, match):
    with pytest.raises(tb.TallyBayesError, match=match):
        parse_column(text)


@pytest.mark.parametrize(
    ("word", "labels", "meant"),
    [
        ("1", (0, 1), 1),
        ("1", ("0", "1"), "1"),
        ("TRUE", (False, True), True),
        ("2", (1.0, 2.0), 2.0),
        ("1.5", (1.5,), 1.5),
        ("7", (0, 1), 7),
        ("yes", (0, 1), "yes"),
        (1, (0, 1), 1),
        ("1", (False, True), "1"),
        ("No", ("no",), "No"),
    ],
)
def test_a_label_is_the_one_that_is_written_alike(word, labels, meant):
    found = label_of(word, labels)
    assert found == meant
    assert type(found) is type(meant)


NAMES = ("age", "income", "mail", "w", "y")


@pytest.mark.parametrize(
    ("spec", "chosen"),
    [
        (ModelSpec(), ("age", "income", "mail", "w")),
        (ModelSpec(drop=("mail", "w")), ("age", "income")),
        (ModelSpec(only=("w", "age")), ("age", "w")),
        (ModelSpec(only=("age",), text=("mail",)), ("age", "mail")),
        (ModelSpec({"income": "bins"}, only=("age",)), ("age", "income")),
    ],
)
def test_columns_are_chosen_in_the_order_of_the_data(spec, chosen):
    assert spec.chosen(NAMES, "y", None) == chosen


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        (ModelSpec(drop=("agee",)), "there is no column 'agee'; did you mean 'age'"),
        (ModelSpec(only=("incom",)), "there is no column 'incom'; did you mean 'income'"),
        (ModelSpec(text=("mails",)), "there is no column 'mails'; did you mean 'mail'"),
        (ModelSpec({"ages": "bins"}), "there is no column 'ages'; did you mean 'age'"),
        (ModelSpec(drop=("y",)), "'y' is what is predicted; it cannot be dropped"),
        (ModelSpec({"y": "bins"}), "'y' is what is predicted"),
        (ModelSpec(drop=("age",), only=("age",)), "column 'age' is dropped and asked for"),
        (ModelSpec({"age": "bins"}, drop=("age",)), "column 'age' is dropped and asked for"),
        (ModelSpec(drop=NAMES[:-1]), "no column is left to predict 'y' from"),
    ],
)
def test_columns_that_do_not_go_together_are_refused(spec, match):
    with pytest.raises(tb.TallyBayesError, match=match):
        spec.chosen(NAMES, "y", None)


def test_text_beside_other_words():
    assert ModelSpec(text=("mail",)).declared == {"mail": "text"}
    assert ModelSpec({"age": "bins"}, text=("mail",)).declared == {"mail": "text", "age": "bins"}
    both = ModelSpec("poisson", text=("mail",)).declared
    assert both["mail"] == "text"
    assert "poisson" in both.values()
