"""A working as LaTeX and HTML: well formed, and safe whatever the user's words are."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.mathtext import MathTextParser

import tallybayes as tb
from explanations.cases import working
from explanations.test_working import of_customer, of_loan, of_mail
from explanations.test_working_numbers import formulas
from lectures import test_loan as loan
from tallybayes.model import Fitted
from tallybayes.rendering.formula import LATEX, write

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
