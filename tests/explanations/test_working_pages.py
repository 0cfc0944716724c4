"""A working as Markdown, LaTeX and HTML: well formed, and safe whatever the user's words are."""

import re
from xml.etree import ElementTree

import pytest

import tallybayes as tb
from explanations.arithmetic import worked_out
from explanations.cases import working
from explanations.test_working import of_customer, of_loan, of_mail
from explanations.test_working_numbers import formulas, has_words
from lectures import test_loan as loan
from tallybayes.model import Fitted
from tallybayes.rendering.formula import LATEX, MARKDOWN, MATHML, write

HTML = "</math><script>f(1)</script>&\"'"
TEX = r"\input{x} $x^2_i$ & 50% #1 {~} |\`<b>"
EXAMPLES = {
    "mails": lambda: of_mail(1),
    "loan": lambda: of_loan(loan.EXERCISE),
    "customer": lambda: of_customer(1),
}
CHILDREN = {"mfrac": 2, "msup": 2, "msqrt": 1}


def hostile():
    """A working in which the user wrote everything that has a meaning somewhere."""
    table = {HTML: [TEX, HTML], "n": [1.0, 2.0], TEX: [HTML, "b"]}
    tally = tb.Tally.of(table, [TEX, HTML], columns={TEX: tb.Text()}, target=f"{TEX}!")
    return working(Fitted(tally), {HTML: TEX, "n": None, TEX: f"{HTML} b script"})


@pytest.fixture(params=[*EXAMPLES, "hostile"])
def found(request):
    return hostile() if request.param == "hostile" else EXAMPLES[request.param]()


def spelled(mathml):
    """Spell MathML out as text, with no more brackets around a base than it has."""
    return "".join(map(_spelled, ElementTree.fromstring(f"<p>{mathml}</p>")))


def _spelled(element):
    parts = [_spelled(child) for child in element]
    match element.tag:
        case "mfrac":
            return f"({parts[0]})/({parts[1]})"
        case "msup":
            return f"{parts[0]}^({parts[1]})"
        case "msqrt":
            return f"sqrt({parts[0]})"
        case "mspace":
            return " "
    text = {
        "\N{MULTIPLICATION SIGN}": " x ",
        "\N{MINUS SIGN}": "-",
        "\N{GREEK SMALL LETTER PI}": "pi",
    }
    if parts:
        return "".join(parts)
    return text.get(element.text, element.text.replace("\N{MINUS SIGN}", "-"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_numbers_in_mathml_are_those_of_the_text(name):
    compared = 0
    for formula in formulas(EXAMPLES[name]()):
        for part in formula.parts[1:]:
            if not has_words(part) and part.op != "(":
                assert worked_out(spelled(write(part, MATHML))) == worked_out(write(part))
                compared += 1
    assert compared > 10


def test_html_is_well_formed_and_its_formulas_are_mathml(found):
    root = ElementTree.fromstring(found.to_html())
    assert root.get("class") == "tb"
    for each in root.iter():
        assert each.tag in {
            *("section", "style", "p", "h3", "h4", "ul", "li", "div"),
            *("table", "caption", "thead", "tbody", "tr", "th", "td"),
            *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msup", "msqrt"),
        }
        assert len(each) == CHILDREN.get(each.tag, len(each)), ElementTree.tostring(each)
        assert all(not name.startswith("on") and name != "href" for name in each.attrib)
    lists = root.findall(".//ul[@class='formulas']")
    assert sum(len(each) for each in lists) == len(formulas(found))
    assert all(line.find("math") is not None for each in lists for line in each)


def test_html_says_the_same_as_text(found):
    root = ElementTree.fromstring(found.to_html())
    spoken = [
        " ".join(math.get("alttext") for math in line.findall("math")) for line in root.iter("li")
    ]
    assert spoken == [write(each) for each in formulas(found)]


def balanced(text):
    """Tell whether the braces of LaTeX open and close in order."""
    depth = 0
    for sign in re.findall(r"\\[\\{}$&%#_]|[{}]", text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def test_latex_is_balanced_and_none_of_the_users_words_is_a_command(found):
    text = found.to_latex()
    assert balanced(text)
    for opened, closed in ((r"\begin{itemize}", r"\end{itemize}"), (r"\left(", r"\right)")):
        assert text.count(opened) == text.count(closed)
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    plain = re.sub(r"\\[%#{}$&_]", "", text)
    assert not re.search(r"[%#~]", plain)
    assert r"\input" not in plain
    for line in plain.splitlines():
        assert ("&" in line) == line.endswith((r"\\", r"\hline"))
    commands = set(re.findall(r"\\[a-zA-Z]+", text))
    assert commands <= {
        *(r"\paragraph", r"\subsection", r"\begin", r"\end", r"\item", r"\displaystyle", r"\hline"),
        *(r"\frac", r"\sqrt", r"\exp", r"\log", r"\times", r"\left", r"\right", r"\pi", r"\mid"),
        *(r"\text", r"\textbackslash", r"\textasciicircum", r"\textasciitilde", r"\textbar"),
        *(r"\textless", r"\textgreater"),
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_formulas_in_latex_can_be_set(name):
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    for each in formulas(EXAMPLES[name]()):
        assert parser.parse(f"${write(each, LATEX)}$").width > 0


def test_markdown_has_a_heading_for_each_step_and_formulas_between_dollars(found):
    text = found.to_markdown()
    titles = ["Prior", "Likelihoods", "Scores", "Normalisation", "Answer"]
    assert re.findall(r"^### \d\. (.*)$", text, re.MULTILINE) == titles
    written = [write(each, MARKDOWN) for each in formulas(found)]
    assert re.findall(r"^- \$(.*)\$$", text, re.MULTILINE) == written


def test_a_table_in_markdown_has_as_many_cells_in_each_line(found):
    table = [line for line in found.to_markdown().splitlines() if line.startswith("|")]
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
    assert len(table) == 2 + len(found.explanation.classes)
    assert len(set(cells)) == 1
