"""Every number of a working follows from the ones before it, and its pages are well formed."""

import json
import math
import re
from decimal import Decimal
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from matplotlib.mathtext import MathTextParser

import tallybayes as tb
from explanations.arithmetic import log, near, worked_out
from explanations.cases import CALIBRATIONS, fitted, with_gaps, working
from explanations.test_working import of_customer, of_loan, of_mail
from lectures import test_loan as loan
from tallybayes.model import Fitted, Recipe
from tallybayes.rendering import Formulas, Heading
from tallybayes.rendering.formula import LATEX, write
from tiers import scaled
from validation.registry import CLASSES, EVERY_SETTING

STEPS = ["Prior", "Likelihoods", "Scores", "Normalisation", "Answer"]
IMPOSSIBLE = pytest.mark.filterwarnings("ignore:row 0 is impossible")


def formulas(found, title=""):
    lines, step = [], ""
    for part in found.document():
        if isinstance(part, Heading) and part.level == 2:
            step = part.text
        elif isinstance(part, Formulas) and step.endswith(title):
            lines += part.lines
    return lines


def has_words(formula):
    return formula.op == "name" or any(map(has_words, formula.parts))


def values(line):
    """Work out the parts of a line that have only numbers."""
    assert line.op == "="
    assert has_words(line.parts[0])
    found = []
    for part in line.parts[1:]:
        if part.op == "(":
            short, long = (worked_out(write(each)) for each in part.parts)
            assert abs(short / long - 1) <= Decimal("0.051"), write(part)
            found.append(long)
        elif not has_words(part):
            found.append(worked_out(write(part)))
    return found


def close(value, expected, digits=2e-4):
    """Compare a number with a logarithm."""
    if expected == -math.inf or value <= 0:
        return expected == -math.inf and value == 0
    return abs(log(value) - expected) <= digits * (1.0 + abs(expected))


def assert_right(model, record, found):
    row = {name: [record.get(name)] for name in model.schema.names}
    joint = model.joint_log_likelihood(row)[0]
    posterior = model.posterior_of(record)
    logs = model.log_prior + np.sum(
        [t.logs for t in found.derivations] or [[0.0] * len(joint)], axis=0
    )
    np.testing.assert_allclose(logs, joint, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.explanation.joint, joint, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        found.explanation.posterior, list(posterior.values()), rtol=1e-9, atol=1e-12
    )
    assert [found.explanation.decision] == model.predict(row).tolist()
    for term in found.derivations:
        for factor, value in zip(term.factors, term.logs, strict=True):
            assert close(worked_out(write(factor)), value), (write(factor), value)
            if factor.exact is not None:
                assert_exact(factor.exact, value)
    for c, label in enumerate(model.classes):
        if found.scores[label] is not None:
            assert_exact(found.scores[label], joint[c])
        if found.posterior[label] is not None:
            assert float(found.posterior[label]) == pytest.approx(posterior[label], abs=1e-9)
    for title in ("Prior", "Likelihoods"):
        for line in formulas(found, title):
            first, *others = values(line)
            assert all(near(first, other) for other in others), write(line)
    names = {f"s({label})": joint[c] for c, label in enumerate(model.classes)}
    scores = [s for s in formulas(found, "Scores") if write(s.parts[0]) in names]
    scores = scores[-len(model.classes) :]  # before them stands the one without numbers
    assert len(scores) == len(model.classes)
    for line in scores:
        *before, last = values(line)
        expected = names[write(line.parts[0])]
        assert all(close(value, expected) for value in before), write(line)
        assert close(last, expected, 5.1e-3), write(line)  # of three digits
    answers = formulas(found, "Normalisation")[-len(model.classes) :]
    for line, p in zip(answers, posterior.values(), strict=True):
        for value in values(line):
            assert near(value, Decimal(p), 1e-3) or abs(value - Decimal(p)) < 1e-15, write(line)


def assert_exact(exact, value):
    there = math.log(exact.numerator) - math.log(exact.denominator) if exact else -math.inf
    assert there == pytest.approx(value, rel=1e-9, abs=1e-9)


@IMPOSSIBLE
def test_every_formula_of_every_family_is_right(setting):
    for how in CALIBRATIONS:
        subject = fitted(setting, setting.examples(12), how)
        for k, (_, _, cells) in enumerate(setting.examples(3, seed=1)):
            record = with_gaps(subject.record(cells), k)
            assert_right(subject.model, record, working(subject.model, record))


@IMPOSSIBLE
def test_all_four_ways_of_writing_and_json_are_ready(setting):
    subject = fitted(setting, setting.examples(12))
    for _, _, cells in setting.examples(2, seed=3):
        found = working(subject.model, subject.record(cells))
        data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert data["decision"] == found.explanation.decision
        assert data["text"] == str(found)
        assert [each["class"] for each in data["classes"]] == list(CLASSES)
        assert [step["title"] for step in data["steps"]] == STEPS
        for written in (found.to_text(), found.to_markdown(), found.to_latex(), found.to_html()):
            assert all(step in written for step in STEPS)


def test_the_telling_words_of_a_long_text_come_with_their_own_counts():
    rng = np.random.default_rng(1)
    words = [f"w{k}" for k in range(900)]
    texts = [" ".join(rng.choice(words, 300)) for _ in range(8)]
    tally = tb.Tally.of({"text": texts}, ["a", "a", "b", "b"] * 2, columns={"text": tb.Text()})
    subject = Fitted(tally, Recipe((tb.Text(event="bernoulli"),)))
    record = {"text": " ".join(rng.choice(words, 600))}
    found = working(subject, record)
    assert len(found.derivations) == 21
    assert_right(subject.model, record, found)


@scaled(2)
@given(data=st.data())
@IMPOSSIBLE
def test_any_model_and_any_record_come_out_right(data):
    setting = data.draw(st.sampled_from(EVERY_SETTING))
    how = data.draw(st.sampled_from(list(CALIBRATIONS)))
    rows = data.draw(setting.rows(min_size=1))
    assume(any(weight for _, weight, _ in rows))
    priors = [tb.Empirical(alpha=1), tb.Uniform(), tb.Fixed({"a": 0.5, "b": 0.3, "c": 0.2})]
    prior = data.draw(st.sampled_from(priors))
    cells = data.draw(st.tuples(*map(st.sampled_from, setting.cells)))
    named = data.draw(st.sets(st.sampled_from(setting.names)))
    try:
        subject = fitted(setting, rows, how, prior=prior)
        record = {name: v for name, v in subject.record(cells).items() if name in named}
        found = working(subject.model, record)
    except tb.TallyBayesError:  # no word is left, or a value is refused
        assume(False)
    assert_right(subject.model, record, found)


HTML = "</math><script>f(1)</script>&\"'"
TEX = r"\input{x} $x^2_i$ & 50% #1 {~} |\`<b>"
SIGNS = "![x](http://evil/x.png) p*q*r _i_"
EXAMPLES = {
    "mails": lambda: of_mail(1),
    "loan": lambda: of_loan(loan.EXERCISE),
    "customer": lambda: of_customer(1),
}
TAGS = {"section", "style", "p", "h3", "h4", "ul", "li", "div", "table", "caption", "thead"}
TAGS |= {"tbody", "tr", "th", "td", "span"}
COMMANDS = "paragraph subsection begin end item displaystyle hline frac sqrt exp log times left "
COMMANDS += "right pi mid text textbackslash textasciicircum textasciitilde textbar textless "
COMMANDS += "textgreater"


def hostile():
    """A working in which the user wrote everything that has a meaning somewhere."""
    table = {HTML: [TEX, HTML], "n": [1.0, 2.0], TEX: [HTML, "b"], SIGNS: [SIGNS, "c"]}
    tally = tb.Tally.of(table, [TEX, HTML], columns={TEX: tb.Text()}, target=f"{TEX}!")
    return working(Fitted(tally), {HTML: TEX, "n": None, TEX: f"{HTML} b script", SIGNS: SIGNS})


@pytest.fixture(params=[*EXAMPLES, "hostile"])
def found(request):
    return hostile() if request.param == "hostile" else EXAMPLES[request.param]()


@pytest.mark.parametrize("name", EXAMPLES)
def test_formulas_in_latex_can_be_set(name):
    parser = MathTextParser("path")
    for formula in formulas(EXAMPLES[name]()):
        assert parser.parse(f"${write(formula, LATEX)}$").width > 0


def test_html_is_well_formed_and_says_the_same(found):
    root = ElementTree.fromstring(found.to_html())
    for each in root.iter():
        assert each.tag in TAGS
        assert all(not name.startswith("on") and name != "href" for name in each.attrib)
    written = ["".join(line.itertext()) for line in root.iter("li")]
    assert written == [write(each) for each in formulas(found)]


def test_latex_is_balanced_and_none_of_the_users_words_is_a_command(found):
    text = found.to_latex()
    depth = 0
    for sign in re.findall(r"\\[\\{}$&%#_]|[{}]", text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    for opened, closed in ((r"\begin{itemize}", r"\end{itemize}"), (r"\left(", r"\right)")):
        assert text.count(opened) == text.count(closed)
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    plain = re.sub(r"\\[%#{}$&_]", "", text)
    assert not re.search(r"[%#~]", plain)
    for line in plain.splitlines():
        assert ("&" in line) == line.endswith((r"\\", r"\hline"))
    assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= set(COMMANDS.split())
