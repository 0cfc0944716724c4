"""The words, or values, that tell most for each class."""

import math
from fractions import Fraction

import pytest

import tallybayes as tb
from tallybayes.plots import InformativeDisplay
from tallybayes.plots.style import style_of

MAILS = ["win money win", "win prize", "see lunch", "lunch money lunch", "report notes", "notes"]
TWO = ["spam", "spam", "ham", "ham", "ham", "ham"]
THREE = ["spam", "spam", "ham", "ham", "work", "work"]


def draw(labels, alpha=1.0, **options):
    model = tb.TextNB(alpha=alpha).fit(MAILS, labels)
    return InformativeDisplay.from_estimator(model, **options)


def widths(ax):
    return [bar.get_width() for group in ax.containers for bar in group]


def test_bars_are_exact_log_ratios_in_bits():
    display = draw(TWO)
    # 7 words in all; spam has 5 tokens, ham has 8
    win = math.log2(Fraction(3 + 1, 5 + 7) / Fraction(0 + 1, 8 + 7))
    lunch = math.log2(Fraction(3 + 1, 8 + 7) / Fraction(0 + 1, 5 + 7))
    assert dict(display.bits["spam"])["win"] == pytest.approx(win)
    assert dict(display.bits["ham"])["lunch"] == pytest.approx(lunch)
    assert (display.values["spam"][0].here, display.values["spam"][0].elsewhere) == (3.0, 0.0)
    assert f"spam: win ({win:.2f})" in display.alt_text


def test_every_class_has_a_panel_all_on_one_scale():
    for options in ({}, {"between": ("work", "ham")}):
        display = draw(THREE, n=2, **options)
        assert [ax.get_title(loc="left") for ax in display.axes_] == list(display.bits)
        for (label, words), ax in zip(display.bits.items(), display.axes_, strict=True):
            assert widths(ax) == pytest.approx([bits for _, bits in words])
            assert [text.get_text() for text in ax.get_yticklabels()] == [word for word, _ in words]
            # as in every picture of the model
            hatch = style_of(["ham", "spam", "work"].index(label)).hatch
            assert {group[0].get_hatch() for group in ax.containers} == {hatch}
        assert len({ax.get_xlim() for ax in display.axes_}) == 1


def test_values_of_columns_are_drawn_with_their_columns():
    table = {"status": ["S", "S", "M", "M", "M"], "owner": ["y", "n", "n", "n", "n"]}
    model = tb.NaiveBayes().fit(table, ["Yes", "Yes", "Yes", "No", "No"])
    display = InformativeDisplay.from_estimator(model)
    assert display.bits["Yes"][0] == ("status = S", pytest.approx(math.log2(12 / 5)))
    assert display.alt_text.startswith("The values that speak most")
    only = InformativeDisplay.from_estimator(model, column="owner")
    assert [name for name, _ in only.bits["Yes"]] == ["owner = y"]
    numbers = tb.NaiveBayes().fit({"size": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(tb.TallyBayesError, match="columns of numbers only"):
        InformativeDisplay.from_estimator(numbers)


def test_a_word_that_rules_the_others_out_is_an_arrow():
    display = draw(TWO, alpha=0)
    assert math.isinf(dict(display.bits["spam"])["win"])
    for ax in display.axes_:
        assert all(map(math.isfinite, widths(ax)))
        assert ">" in {line.get_marker() for line in ax.lines}
    assert "win (inf)" in display.alt_text


def test_many_classes_are_cut_and_it_is_said():
    labels = [f"class {k:02}" for k in range(40)]
    model = tb.TextNB().fit([f"word{k} common" for k in range(40)], labels)
    display = InformativeDisplay.from_estimator(model, n=3)
    assert len(display.axes_) == 9
    assert "31 more classes not drawn" in display.alt_text
    assert display.figure_.get_supxlabel() == "31 more classes not drawn"
