"""What families refuse, and the words that say what to give instead."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes.families import FAMILIES

NAN, INF = float("nan"), float("inf")
X = np.array([[1.0, 20.0], [2.0, 30.0], [6.0, 45.0], [9.0, 200.0]])
Y = [0, 0, 1, 1]
WORDS = tb.Words(tokens="whitespace")
DOCUMENTS = {"mail": ["a b b", "b c", "free c"]}


def tally(columns, X=X, y=Y):
    return tb.Tally.of(X, y, columns=columns)


def cut(**columns):
    return tb.Tally.of({"a": [0.0, 1.0], "b": [1.0, 2.0]}, [0, 1], columns=columns)


def view(words=WORDS, **options):
    family = tb.Text(words, **options)
    return tb.estimate(tb.Tally.of(DOCUMENTS, [0, 1, 1], columns={"mail": words}), family)


MAILS = tb.Tally.of(DOCUMENTS, [0, 1, 1], columns={"mail": WORDS})
LOGS = tally(tb.LogNormal())
LOG_MODEL = tb.estimate(LOGS)
BINS = cut(a=tb.Bins((0.0, 2.5)), b=tb.Bins((10.0,)))
COLOURS = tb.Tally.of({"colour": ["red", "blue"]}, ["no", "yes"])
BEFORE_COUNTING = "before documents are counted: use TextNB"
RED_OR_BLUE = tb.ByValue({"red": 0.5, "blue": 0.5})

REFUSED = [
    *(
        (lambda name=name, wrong=wrong: FAMILIES[name](alpha=wrong), "alpha")
        for name, family in FAMILIES.items()
        for wrong in (-1, "one", NAN)
        if hasattr(family(), "alpha")
    ),
    # numbers
    (lambda: tb.RelativeFloor(0.0), "greater than 0"),
    (lambda: tb.RelativeFloor(INF), "floor"),
    (lambda: tb.AdditiveFloor(-1.0), "floor"),
    (lambda: tb.AdditiveFloor(NAN), "floor"),
    (lambda: tb.AdditiveFloor(of=-1.0), "the variance that a floor"),
    (lambda: tb.LogNormal(ddof=-1), "ddof"),
    (lambda: tb.LogNormal(floor=1e-9), "floor"),
    (lambda: tally(tb.Gaussian(), y=np.ma.array(Y, mask=[1, 0, 0, 0])), "label of row 0 is mis"),
    (lambda: tb.Numeric(log="ten"), "log is 'ten'; it must be True or False"),
    (lambda: tally(tb.Gaussian()) + LOGS, r"as Numeric\(\) in .*Numeric\(log=True\)"),
    (lambda: tally(tb.LogNormal(), np.array([[1, 2], [1, INF]] * 2)), "'x1' holds inf.* in row 1"),
    (lambda: tally(tb.LogNormal(), csr_array(X)), "toarray"),
    (lambda: LOG_MODEL.posterior([[INF, 2.0]]), "column 'x0' holds infinity"),
    (lambda: tb.estimate(LOGS, tb.Gaussian()), "applies to no column"),
    (lambda: tb.estimate(LOGS, columns={"x0": tb.Gaussian()}), "but Gaussian needs"),
    # intervals
    (lambda: tb.Bins((1.0, 1.0)), "edge 1 stands before 1; edges must increase"),
    (lambda: tb.Bins((NAN,)), "an edge is nan; it must be a finite number"),
    (lambda: tb.Bins((0.0, INF)), "an edge is inf"),
    (lambda: tb.Intervals(("a",)), "an edge is 'a'"),
    (lambda: tb.Bins("12"), "edges is '12'; give a tuple of numbers"),
    (lambda: tb.Bins(3.0), r"edges is 3\.0; give a tuple"),
    (lambda: cut(a=tb.Bins(alpha=2)), "column 'a' is declared as intervals.*edges.*NaiveBayes"),
    (lambda: tally(tb.Intervals()), "column 'x0' is declared as intervals.*edges.*Bins"),
    (lambda: tb.estimate(BINS, columns={"a": tb.Bins((1,))}), r"'a' was counted as Int.*\(1.0,\)"),
    (lambda: tb.estimate(BINS, tb.Bins((10,))), r"'a' was counted as.*has other edges"),
    (lambda: tb.estimate(BINS, columns={"a": tb.Categorical()}), "Categorical needs"),
    # categories
    (lambda: tb.Categorical(m=-1), "m is -1"),
    (lambda: tb.Categorical(p=0.5), "give m as well"),
    (lambda: tb.Categorical(alpha=1, m=2), "either alpha or m"),
    (lambda: tb.Categorical(unseen="x"), "unseen is 'x'"),
    (lambda: tb.estimate(COLOURS, tb.Categorical(m=1, p=tb.ByValue({"red": 0.5}))), "value 'blue'"),
    (lambda: tb.estimate(COLOURS, tb.Categorical(m=1, p=tb.ByClass({"no": 1}))), "class 'yes'"),
    (lambda: tb.estimate(COLOURS, tb.Categorical(m=1, p=1e308)), r"p of .* is 1e\+308; .* most 1"),
    (lambda: tb.estimate(COLOURS, tb.Categorical(m=1, p=RED_OR_BLUE, unseen="smooth")), "any oth"),
    # counts
    (lambda: tb.Complement(alpha=0), "alpha > 0"),
    (lambda: tb.Complement(alpha=(1, 0, 1)), "alpha > 0"),
    (lambda: tb.estimate(tally(tb.Binary(2.0)), tb.Bernoulli()), "none was counted as Binary"),
    *(
        (lambda f=f, bad=bad, use=use: use(f, bad), "negative")
        for f in (tb.Multinomial(), tb.Poisson(), tb.Complement())
        for bad in (-X, csr_array(-X))
        for use in (tally, lambda f, bad: tb.estimate(tally(f)).posterior(bad))
    ),
    # words
    (lambda: tb.Text(event="binomial"), "event is 'binomial'"),
    (lambda: tb.Text(event="complement", alpha=0), "alpha > 0"),
    (lambda: tb.Text(alpha=(1, 2)), "one number"),
    (lambda: tb.Text("words"), "give Words"),
    (lambda: tb.estimate(MAILS, tb.Text(tb.Words(ngrams=(1, 2)))), "applies to no column"),
    *(
        (lambda words=words, options=options: tb.Text(words, **options), BEFORE_COUNTING)
        for words in (tb.Words(idf=tb.Idf({"w02": 1.5})), tb.Words(norm="l2"))
        for options in ({"min_df": 2}, {"max_features": 2}, {"best": 1})
    ),
    (lambda: view(min_df=1000, max_df=2000), "no word is left"),
    (lambda: view(min_df=50, max_df=10), "no word can have both"),
    (lambda: view(min_df=0.9, max_df=0.1), "no word can have both"),
    (lambda: view(min_df=-1), "min_df is -1"),
    (lambda: view(min_df=1.5), r"min_df is 1\.5"),
    (lambda: view(max_df=True), "max_df is True"),
    (lambda: view(max_features=0), "max_features is 0"),
    (lambda: view(best=2.5), r"best is 2\.5"),
    (lambda: view(vocabulary=()), "give a list of words"),
    (lambda: view(vocabulary="free money"), "vocabulary is 'free money'; give a list"),
    (lambda: view(vocabulary=["free", 3]), "give a list"),
    (lambda: view(vocabulary=["Free"]), r"'Free', which Words.* never counts.*\['free'\]"),
    (lambda: view(vocabulary=["free money"]), "'free money', which Words.* never counts"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_does_not_fit_is_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(tb.TallyBayesError, match=message):
        make()


@pytest.mark.parametrize("name", ["categorical", "bins", "multinomial", "poisson", "bernoulli"])
def test_there_is_one_alpha_or_one_for_each_column(name):
    family = FAMILIES[name]
    counted = tally(tb.Bins((0.0,)) if name == "bins" else family(), X.astype(int))
    with pytest.raises(tb.TallyBayesError, match="3 values for 2 columns"):
        tb.estimate(counted, family(alpha=(1, 2, 3)))


@pytest.mark.parametrize("bad", [0.0, -0.0, -3.5, -INF, 0, -7])
@pytest.mark.parametrize("form", [np.array, list])
def test_a_number_without_a_logarithm_is_refused_when_it_is_counted(bad, form):
    data = form([5.0, NAN, bad, 2.0])
    data = {"x0": [1.0] * 4, "x1": data} if form is list else np.stack([np.ones(4), data], axis=1)
    message = rf"column 'x1' holds {float(bad)} in row 2.*above 0.*NaN if"
    with pytest.raises(tb.TallyBayesError, match=message):
        tb.Tally.of(data, list("abab"), columns={"x1": tb.LogNormal()})


def test_the_row_is_named_among_all_rows_unless_it_has_no_weight():
    x = np.ones((70_000, 1))
    x[-3] = -1.0
    with pytest.raises(tb.TallyBayesError, match="row 69997,"):
        tb.Tally.of(x, np.zeros(len(x), int), columns=tb.LogNormal())
    weight = np.ones(len(x))
    weight[-3] = 0.0
    counted = tb.Tally.of(x, np.zeros(len(x), int), weight, columns=tb.LogNormal())
    assert counted.rows.tolist() == [len(x) - 1]
