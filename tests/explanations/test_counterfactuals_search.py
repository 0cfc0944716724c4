"""What would change the answer: nothing smaller does, by trying everything."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tallybayes as tb
from explanations.cases import CALIBRATIONS, fitted
from tallybayes.explanations.counterfactuals import counterfactuals
from tallybayes.model.calibration import Calibration
from tallybayes.tokenizer.words import splitter
from tiers import scaled
from validation.registry import CLASSES, EVERY_SETTING

SLACK = 1.011  # a change may be one per cent larger, so that the number is short
LESS = 0.9  # beside another change, of what a number takes alone
TIE = 1e-8


def table_of(model, records):
    return {name: [each.get(name) for each in records] for name in model.schema.names}


def answers(model, records):
    """Return the model's answers, None where no class allows the record."""
    if not records:
        return []
    X = table_of(model, records)
    possible = model.joint_log_likelihood(X).max(axis=1) > -np.inf
    said = model.predict(X).tolist()
    return [label if there else None for label, there in zip(said, possible, strict=True)]


def changes_answer(model, record, to, others):
    """Tell of each other record whether it has the answer that is wanted."""
    (now,) = model.predict(table_of(model, [record])).tolist()
    said = answers(model, others)
    return [label is not None and (label != now if to is None else label == to) for label in said]


def assert_holds(model, record, found, to=None):
    """Check that each change does what it says, and that each part of it is needed."""
    for each in found:
        assert [each.decision] == answers(model, [each.record])
        assert changes_answer(model, record, to, [each.record]) == [True]
        posterior = model.posterior(table_of(model, [each.record]))[0]
        assert each.probability == pytest.approx(posterior[model.classes.index(each.decision)])
        assert 1 <= len(each.changes) <= found.values
        assert each.size > 0.0
        changed = {name for name in each.record if each.record[name] is not record.get(name)}
        assert changed <= {change.column for change in each.changes}
        values = [change for change in each.changes if change.how == "set"]
        for change in values:
            assert each.record[change.column] == change.after != record.get(change.column)
            alone = {**record, change.column: change.after}
            assert changes_answer(model, record, to, [alone]) == [len(each.changes) == 1]
    sizes = [(len(each.changes), each.size) for each in found]
    assert sizes == sorted(sizes)


@pytest.mark.filterwarnings("ignore:row .* impossible")
def test_every_change_holds_in_the_model_itself(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(14), how, positive="a")
        for k, (_, _, cells) in enumerate(setting.examples(3, seed=7)):
            record = case.record(cells)
            if k == 1:
                record.pop(setting.names[-1])
            found = counterfactuals(case.model, record)
            assert_holds(case.model, record, found)
            for to in CLASSES:
                if k and to != found.decision:
                    wanted = counterfactuals(case.model, record, to=to)
                    assert {each.decision for each in wanted} <= {to}
                    assert_holds(case.model, record, wanted, to)


def every_value(model, column):
    """Return the values of a column of categories."""
    for factor in model.factors:
        names = getattr(factor.parameters, "names", ())
        if column in names:
            return factor.parameters.labels[names.index(column)]
    raise AssertionError(column)


def brute_force(model, record, to, n):
    """Try all values of up to two columns; return the surest of each set of columns."""
    names = list(model.schema.names)
    options = {
        name: [value for value in every_value(model, name) if value != record.get(name)]
        for name in names
    }
    alone = {}
    for name in names:
        others = [{**record, name: value} for value in options[name]]
        flips = changes_answer(model, record, to, others) if others else []
        alone[name] = dict(zip(options[name], flips, strict=True))
    found = {}
    for size in range(1, n + 1):
        for columns in itertools.combinations(names, size):
            for values in itertools.product(*(options[name] for name in columns)):
                pairs = list(zip(columns, values, strict=True))
                if size == 2 and any(alone[name][value] for name, value in pairs):
                    continue
                changed = {**record, **dict(pairs)}
                if changes_answer(model, record, to, [changed]) == [True]:
                    posterior = model.posterior(table_of(model, [changed]))[0]
                    (answer,) = answers(model, [changed])
                    p = posterior[model.classes.index(answer)]
                    found[columns] = max(found.get(columns, 0.0), float(p))
    return found


@scaled(2)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore:row .* impossible")
def test_of_categories_all_ways_are_found_that_there_are(data):
    n_columns, n_values = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    classes = ["a", "b", "c", "d"][: data.draw(st.integers(1, 4))]
    cell = st.sampled_from(["p", "q", "r", "s"][:n_values])
    row = st.tuples(st.sampled_from(classes), st.tuples(*[cell] * n_columns))
    rows = data.draw(st.lists(row, min_size=1, max_size=12))
    names = [f"c{k}" for k in range(n_columns)]
    X = {name: [cells[k] for _, cells in rows] for k, name in enumerate(names)}
    y = [label for label, _ in rows]
    alpha = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    family = tb.Categorical(alpha, unseen=data.draw(st.sampled_from(["ignore", "smooth"])))
    positive = data.draw(st.sampled_from([None, *y]))
    tally = tb.Tally.of(X, y)
    model = tb.estimate(tally, family, prior=data.draw(PRIORS), positive=positive)
    cells = data.draw(
        st.tuples(*[st.sampled_from(["p", "q", "r", "s", "never", None])] * n_columns)
    )
    record = dict(zip(names, cells, strict=True))
    (now,) = model.predict(table_of(model, [record])).tolist()
    to = data.draw(st.sampled_from([None, *(label for label in model.classes if label != now)]))
    n = data.draw(st.integers(1, 2))
    found = counterfactuals(model, record, to=to, values=n, most=100)
    expected = brute_force(model, record, to, n)
    got = {tuple(change.column for change in each.changes): each.probability for each in found}
    assert got == pytest.approx(expected, rel=1e-9)
    assert len(got) == len(found)
    assert [each.size for each in found] == [float(len(each.changes)) for each in found]
    order = [(len(each.changes), [names.index(c.column) for c in each.changes]) for each in found]
    assert order == sorted(order)


PRIORS = st.sampled_from([tb.Empirical(), tb.Uniform(), tb.Empirical(alpha=0.5)])
NUMBER = st.integers(-30, 30).map(lambda n: n / 4)


def deviation(model, column):
    """Return the standard deviation of a mixture of bell curves."""
    (factor,) = (f for f in model.factors if hasattr(f.parameters, "mean"))
    mean, variance = factor.parameters.mean[:, column], factor.parameters.variance[:, column]
    second = model.prior @ (variance + mean**2)
    return math.sqrt(second - (model.prior @ mean) ** 2)


def along(model, record, to, name, numbers):
    """Tell of many numbers of a column whether they change the answer, beyond rounding."""
    X = {column: np.full(len(numbers), float(record[column])) for column in record}
    X[name] = np.asarray(numbers, float)
    (now,) = model.predict(table_of(model, [record])).tolist()
    joint = model.joint_log_likelihood(X)
    said = model.predict(X)
    flips = (said != now) if to is None else (said == to)
    scores = np.sort(joint, axis=1)
    with np.errstate(invalid="ignore"):
        sure = scores[:, -1] - scores[:, -2] > TIE * (1 + np.abs(scores[:, -1]))
    return flips & sure & (scores[:, -1] > -np.inf)


@scaled(2)
@given(data=st.data())
def test_no_nearer_number_changes_the_answer(data):
    log = data.draw(st.booleans())
    number = NUMBER.map(lambda x: math.exp(x / 4)) if log else NUMBER
    classes = ["a", "b", "c"][: data.draw(st.integers(2, 3))]
    row = st.tuples(st.sampled_from(classes), number, number)
    rows = data.draw(st.lists(row, min_size=6, max_size=14))
    X = {"x": [x for _, x, _ in rows], "y": [y for _, _, y in rows]}
    assume(len(set(X["x"])) > 2 and len(set(X["y"])) > 2)
    labels = [label for label, _, _ in rows]
    assume(len(set(labels)) > 1)
    family = tb.LogNormal() if log else tb.Gaussian()
    tally = tb.Tally.of(X, labels, columns={"x": family, "y": family})
    exponent = data.draw(st.sampled_from([1.0, 0.4]))
    calibration = Calibration("temperature", default=exponent)
    model = tb.estimate(tally, prior=data.draw(PRIORS), calibration=calibration)
    record = {"x": data.draw(number), "y": data.draw(number)}
    (now,) = model.predict(table_of(model, [record])).tolist()
    to = data.draw(st.sampled_from([None, *(label for label in model.classes if label != now)]))
    found = counterfactuals(model, record, to=to, values=1, most=100)
    assert_holds(model, record, found, to)
    by_column = {each.changes[0].column: each for each in found}
    assert len(by_column) == len(found)
    scale, back = (math.log, np.exp) if log else (float, np.asarray)
    for k, name in enumerate(("x", "y")):
        start, spread = scale(record[name]), deviation(model, k)
        far = 30 * spread
        if name in by_column:
            far = abs(scale(by_column[name].changes[0].after) - start)
            assert by_column[name].size == pytest.approx(far / spread)
            far /= SLACK
        inside = back(np.clip(start + np.linspace(-1, 1, 5001) * far, -700.0, 700.0))
        assert not along(model, record, to, name, inside).any()


@scaled(2)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore:row .* impossible")
def test_no_smaller_count_changes_the_answer(data):
    family = data.draw(
        st.sampled_from(
            [tb.Poisson(), tb.Poisson(0), tb.Multinomial(), tb.Multinomial(0), tb.Complement()]
        )
    )
    classes = ["a", "b", "c"][: data.draw(st.integers(2, 3))]
    count = st.integers(0, 4)
    row = st.tuples(st.sampled_from(classes), count, count)
    rows = data.draw(st.lists(row, min_size=3, max_size=9))
    X = {"x": [x for _, x, _ in rows], "y": [y for _, _, y in rows]}
    labels = [label for label, _, _ in rows]
    assume(len(set(labels)) > 1)
    tally = tb.Tally.of(X, labels, columns={"x": family, "y": family})
    model = tb.estimate(tally, family, prior=data.draw(PRIORS))
    record = {"x": data.draw(count), "y": data.draw(count)}
    (now,) = model.predict(table_of(model, [record])).tolist()
    to = data.draw(st.sampled_from([None, *(label for label in model.classes if label != now)]))
    found = counterfactuals(model, record, to=to, values=1, most=100)
    assert_holds(model, record, found, to)
    got = {each.changes[0].column: each.changes[0].after for each in found}
    for name in ("x", "y"):
        flips = np.flatnonzero(along(model, record, to, name, np.arange(200)))
        steps = np.abs(flips - record[name]).tolist()
        if name in got:
            assert type(got[name]) is int
            assert abs(got[name] - record[name]) <= min(steps, default=np.inf)
        else:
            assert not steps


def sizes_alone(found):
    return {each.changes[0].column: each.size for each in found if len(each.changes) == 1}


def pairs_of(found):
    return {tuple(c.column for c in each.changes): each for each in found if len(each.changes) == 2}


@given(data=st.data())
def test_a_category_and_a_number_change_together_as_little_as_they_can(data):
    row = st.tuples(st.sampled_from("ab"), st.sampled_from("pqr"), NUMBER)
    rows = data.draw(st.lists(row, min_size=6, max_size=14))
    X = {"c": [c for _, c, _ in rows], "x": [x for _, _, x in rows]}
    labels = [label for label, _, _ in rows]
    assume(len(set(labels)) > 1 and len(set(X["x"])) > 2)
    model = tb.estimate(tb.Tally.of(X, labels, columns={"x": tb.Gaussian()}))
    record = {"c": data.draw(st.sampled_from("pqr")), "x": data.draw(NUMBER)}
    found = counterfactuals(model, record, most=100)
    assert_holds(model, record, found)
    pair, spread = pairs_of(found).get(("c", "x")), deviation(model, 0)
    # beside the category the number must move a tenth less than alone, and no further than needed
    least = LESS * sizes_alone(found).get("x", np.inf)
    if pair is not None:
        assert pair.size - 1.0 <= least
        least = pair.size - 1.0
    grid = np.linspace(-1, 1, 6001) * min(10.0, least / SLACK)
    numbers = record["x"] + grid * spread
    alone = along_mixed(model, record, numbers)
    for value in {*X["c"]} - {record["c"]}:
        if changes_answer(model, record, None, [{**record, "c": value}]) == [True]:
            continue
        together = along_mixed(model, {**record, "c": value}, numbers, of=record)
        assert not (together & ~alone).any()


def along_mixed(model, record, numbers, of=None):
    """Tell which numbers change the answer, beside a category."""
    X = {"c": [record["c"]] * len(numbers), "x": numbers}
    (now,) = model.predict(table_of(model, [of or record])).tolist()
    scores = np.sort(model.joint_log_likelihood(X), axis=1)
    return (model.predict(X) != now) & (scores[:, -1] - scores[:, -2] > 1e-6)


@given(data=st.data())
def test_two_numbers_change_together_if_that_takes_less(data):
    classes = ["a", "b", "c"][: data.draw(st.integers(2, 3))]
    row = st.tuples(st.sampled_from(classes), NUMBER, NUMBER)
    rows = data.draw(st.lists(row, min_size=6, max_size=14))
    X = {"x": [x for _, x, _ in rows], "y": [y for _, _, y in rows]}
    labels = [label for label, _, _ in rows]
    assume(len(set(labels)) > 1 and len(set(X["x"])) > 2 and len(set(X["y"])) > 2)
    family = tb.Gaussian(floor=tb.RelativeFloor(0.2))
    tally = tb.Tally.of(X, labels, columns={"x": family, "y": family})
    model = tb.estimate(tally, family)
    record = {"x": data.draw(NUMBER), "y": data.draw(NUMBER)}
    found = counterfactuals(model, record, most=100)
    assert_holds(model, record, found)
    least = min(sizes_alone(found).values(), default=6.0)
    spreads = deviation(model, 0), deviation(model, 1)
    steps = np.linspace(-1, 1, 301) * min(least, 6.0)
    u, v = (each.ravel() for each in np.meshgrid(steps, steps))
    (now,) = model.predict(table_of(model, [record])).tolist()
    X = {"x": record["x"] + u * spreads[0], "y": record["y"] + v * spreads[1]}
    size, posterior = np.abs(u) + np.abs(v), model.posterior(X)
    by_grid = size[model.predict(X) != now].min(initial=np.inf)
    pair = pairs_of(found).get(("x", "y"))
    if pair is not None:
        assert pair.size <= LESS * least or not sizes_alone(found)
        assert pair.size <= 1.04 * by_grid
        moved = [abs(c.after - c.before) / s for c, s in zip(pair.changes, spreads, strict=True)]
        assert pair.size == pytest.approx(sum(moved))
    else:  # but a corner where the answer hardly changes may be missed
        clear = posterior.max(axis=1) > posterior[:, model.classes.index(now)] + 0.02
        by_grid = size[clear].min(initial=np.inf)
        assert by_grid > 0.95 * LESS * least or by_grid > 5.5


@given(data=st.data())
def test_two_counts_change_together_if_that_takes_less(data):
    count = st.integers(0, 6)
    row = st.tuples(st.sampled_from("ab"), count, count)
    rows = data.draw(st.lists(row, min_size=4, max_size=10))
    labels = [label for label, _, _ in rows]
    assume(len(set(labels)) > 1)
    X = {"x": [x for _, x, _ in rows], "y": [y for _, _, y in rows]}
    family = data.draw(st.sampled_from([tb.Poisson(), tb.Multinomial()]))
    model = tb.estimate(tb.Tally.of(X, labels, columns={"x": family, "y": family}), family)
    record = {"x": data.draw(count), "y": data.draw(count)}
    found = counterfactuals(model, record, most=100)
    assert_holds(model, record, found)
    pair = pairs_of(found).get(("x", "y"))
    if pair is not None:
        for change in pair.changes:
            assert type(change.after) is int
            assert change.after >= 0
        assert pair.size <= LESS * min(sizes_alone(found).values(), default=np.inf)


def test_two_numbers_that_only_together_change_the_answer_are_found():
    one = {"a": tb.Normal(0.0, 1.0), "b": tb.Normal(0.0, 0.81)}
    # each number speaks for "b" by log(1 / 0.9) at most, and the prior takes both of them
    model = tb.stated({"a": 0.54, "b": 0.46}, {"x": one, "y": one})
    record = {"x": 3.0, "y": 3.0}
    found = counterfactuals(model, record)
    (pair,) = found
    assert [change.column for change in pair.changes] == ["x", "y"]
    assert_holds(model, record, found)
    # on the boundary both squares add up to (2 log(10 / 9) - log(54 / 46)) / (1 / 1.62 - 1 / 2)
    radius = (2 * math.log(10 / 9) - math.log(54 / 46)) / (1 / 1.62 - 1 / 2)
    spread = math.sqrt(0.54 + 0.46 * 0.81)
    assert pair.size == pytest.approx(2 * (3.0 - math.sqrt(radius / 2)) / spread, rel=0.02)


@scaled(2)
@given(data=st.data())
def test_of_intervals_the_nearest_point_is_taken(data):
    edges = tuple(sorted(data.draw(st.sets(st.integers(-8, 8), min_size=1, max_size=4))))
    row = st.tuples(st.sampled_from("ab"), st.integers(-10, 10))
    rows = data.draw(st.lists(row, min_size=4, max_size=12))
    assume({label for label, _ in rows} == {"a", "b"})
    X, labels = {"x": [float(x) for _, x in rows]}, [label for label, _ in rows]
    model = tb.estimate(tb.Tally.of(X, labels, columns={"x": tb.Bins(edges=edges)}))
    whole = data.draw(st.booleans())
    value = data.draw(st.integers(-10, 10))
    record = {"x": value if whole else value + 0.25}
    found = counterfactuals(model, record)
    assert_holds(model, record, found)
    points = np.arange(-12, 13) if whole else np.arange(-12 * 64, 12 * 64 + 1) / 64
    others = [{"x": point} for point in points.tolist()]
    flips = points[changes_answer(model, record, None, others)]
    assert len(found) == bool(len(flips))
    for each in found:
        after = each.changes[0].after
        least = np.abs(flips - record["x"]).min()
        assert type(after) is (int if whole else float)
        if whole:
            assert abs(after - value) == least
        else:
            assert least - 1 / 64 <= abs(after - record["x"]) <= SLACK * least
        assert each.size == 1.0


DOCUMENTS = ["red green", "red red blue", "green", "blue blue grey", "grey red", "green blue pink"]
TEXTS = ["red", "blue grey", "Red, green! red", "", "unknown words", "pink green blue", None]


def removed(words, text, word):
    """Leave a word out of a text, read as the model does."""
    return " ".join(each for each in splitter(words)(text) if each != word)


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli", "complement"])
@pytest.mark.parametrize(
    "words",
    [tb.Words(), tb.Words(tf="log"), tb.Words(norm="l2"), tb.Words(ngrams=(1, 2))],
    ids=["plain", "log", "norm", "pairs"],
)
@pytest.mark.parametrize("text", TEXTS)
def test_of_a_text_every_word_that_matters_is_found(event, words, text):
    labels = ["a", "a", "b", "b", "c", "c"]
    tally = tb.Tally.of({"mail": DOCUMENTS}, labels, columns={"mail": tb.Text(words)})
    model = tb.estimate(tally, tb.Text(words, event=event))
    record = {"mail": text}
    found = counterfactuals(model, record, most=100)
    assert_holds(model, record, found)
    tokens = dict.fromkeys(splitter(words)(text or ""))
    taken = [{"mail": removed(words, text, word)} for word in tokens]
    flips = dict(zip(tokens, changes_answer(model, record, None, taken), strict=True))
    singles = [each.changes[0] for each in found if len(each.changes) == 1]
    assert {c.before for c in singles if c.how == "removed"} == {w for w in flips if flips[w]}
    terms = {term for each in DOCUMENTS for term in words.terms(each)} - set(
        words.terms(text or "")
    )
    added = {term: {"mail": f"{text or ''} {term}"} for term in sorted(terms)}
    works = changes_answer(model, record, None, list(added.values()))
    helping = {term for term, does in zip(added, works, strict=True) if does}
    got = [change.after for change in singles if change.how == "added"]
    assert len(got) == bool(helping)
    assert set(got) <= helping
    if got:
        said = {term: max(model.posterior_of(added[term]).values()) for term in helping}
        assert said[got[0]] == pytest.approx(max(said.values()))


@given(data=st.data())
@pytest.mark.filterwarnings("ignore:row .* impossible")
def test_any_model_and_any_record_hold(data):
    setting = data.draw(st.sampled_from(EVERY_SETTING))
    how = data.draw(st.sampled_from(sorted(CALIBRATIONS)))
    rows = data.draw(setting.rows(min_size=1))
    assume(any(weight for _, weight, _ in rows))
    try:
        case = fitted(setting, rows, how, prior=tb.Empirical(alpha=1))
    except tb.TallyBayesError:  # no word is left, for example
        assume(False)
    cells = data.draw(st.tuples(*map(st.sampled_from, setting.cells)))
    record = case.record(cells)
    try:
        case.joint(record)
    except tb.TallyBayesError:  # refused everywhere
        assume(False)
    assert_holds(case.model, record, counterfactuals(case.model, record))
