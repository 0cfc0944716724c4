"""The words that speak most for each class."""

import math
from fractions import Fraction

import pytest
from matplotlib import pyplot

import tallybayes as tb
from tallybayes.plots import WordWeightsDisplay
from tallybayes.plots.style import style_of

MAILS = ["win money win", "win prize", "see lunch", "lunch money lunch", "report notes", "notes"]
TWO = ["spam", "spam", "ham", "ham", "ham", "ham"]
THREE = ["spam", "spam", "ham", "ham", "work", "work"]


def model(labels, **options):
    return tb.TextNB(**options).fit(MAILS, labels)


def widths(ax):
    return [bar.get_width() for group in ax.containers for bar in group]


def test_bars_are_exact_log_ratios_in_bits():
    display = WordWeightsDisplay.from_estimator(model(TWO))
    # 7 words in all; spam has 5 tokens, ham has 8
    win = Fraction(3 + 1, 5 + 7) / Fraction(0 + 1, 8 + 7)
    lunch = Fraction(3 + 1, 8 + 7) / Fraction(0 + 1, 5 + 7)
    assert dict(display.words["spam"])["win"] == pytest.approx(math.log2(win))
    assert dict(display.words["ham"])["lunch"] == pytest.approx(math.log2(lunch))
    assert display.words["spam"][0][0] == "win"
    assert display.counts["spam"][0] == (3.0, 0.0)
    (ax,) = display.axes_
    drawn = widths(ax)
    spam = [bits for _, bits in display.words["spam"]]
    ham = [bits for _, bits in display.words["ham"]]
    assert drawn == pytest.approx([*spam, *(-bits for bits in reversed(ham))])
    written = [text.get_text() for text in ax.texts]
    assert {"win", "lunch"} <= set(written)


def test_more_classes_have_a_panel_each_on_one_scale():
    display = WordWeightsDisplay.from_estimator(model(THREE), n=2)
    assert [ax.get_title(loc="left") for ax in display.axes_] == ["ham", "spam", "work"]
    for label, ax in zip(("ham", "spam", "work"), display.axes_, strict=True):
        assert widths(ax) == pytest.approx([bits for _, bits in display.words[label]])
        names = [text.get_text() for text in ax.get_yticklabels()]
        assert names == [word for word, _ in display.words[label]]
    assert len({ax.get_xlim() for ax in display.axes_}) == 1


def test_two_of_three_classes_are_told_from_each_other():
    display = WordWeightsDisplay.from_estimator(model(THREE), n=3, between=("work", "ham"))
    assert set(display.words) == {"work", "ham"}
    assert len(display.axes_) == 1
    hatches = {group[0].get_hatch() for group in display.axes_[0].containers}
    assert hatches == {style_of(0).hatch, style_of(2).hatch}  # as in every picture of the model


def test_a_word_that_rules_the_others_out_is_an_arrow():
    display = WordWeightsDisplay.from_estimator(model(TWO, alpha=0))
    assert math.isinf(dict(display.words["spam"])["win"])
    (ax,) = display.axes_
    assert all(map(math.isfinite, widths(ax)))
    assert {line.get_marker() for line in ax.lines} >= {"<", ">"}
    assert "win (inf)" in display.alt_text


def test_the_alternative_text_names_words_and_bits():
    display = WordWeightsDisplay.from_estimator(model(TWO))
    bits = math.log2(Fraction(4, 12) / Fraction(1, 15))
    assert f"spam: win ({bits:.2f})" in display.alt_text


def test_many_classes_are_cut_and_it_is_said():
    labels = [f"class {k:02}" for k in range(40)]
    texts = [f"word{k} common" for k in range(40)]
    display = WordWeightsDisplay.from_estimator(tb.TextNB().fit(texts, labels), n=3)
    assert len(display.axes_) == 9
    assert "31 more classes are not drawn" in display.alt_text
    assert display.figure_.get_supxlabel() == "31 more classes are not drawn"


def test_words_of_users_are_shown_as_they_are():
    words = tb.Words(str.split, lowercase=False)
    long = "ü" * 200
    texts = {"mail": ["a_$b$ <x>", "a_$b$", long, long]}
    fitted = tb.NaiveBayes(columns={"mail": tb.Text(words)}).fit(texts, ["$y$", "$y$", "n", "n"])
    display = WordWeightsDisplay.from_estimator(fitted)
    display.figure_.canvas.draw()
    written = [text.get_text() for text in display.axes_[0].texts]
    assert r"a_\$b\$" in written
    assert "<x>" in written
    assert max(map(len, written)) <= 32
    assert "a_$b$" in display.alt_text


def test_which_column_of_text_must_be_clear():
    table = {"head": ["win", "see"], "body": ["money", "lunch"], "size": [1.0, 2.0]}
    columns = {"head": tb.Text(), "body": tb.Text()}
    fitted = tb.NaiveBayes(columns=columns).fit(table, ["spam", "ham"])
    display = WordWeightsDisplay.from_estimator(fitted, column="body")
    assert display.words["spam"][0][0] == "money"
    with pytest.raises(tb.TallyBayesError, match="say which column of text: 'body', 'head'"):
        WordWeightsDisplay.from_estimator(fitted)
    with pytest.raises(tb.TallyBayesError, match="'size' is not a column of text"):
        WordWeightsDisplay.from_estimator(fitted, column="size")
    with pytest.raises(tb.TallyBayesError, match="did you mean 'body'"):
        WordWeightsDisplay.from_estimator(fitted, column="bdy")
    numbers = tb.NaiveBayes().fit({"size": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(tb.TallyBayesError, match="no column of text"):
        WordWeightsDisplay.from_estimator(numbers)


def test_given_axes_are_used_for_two_classes_only():
    _, ax = pyplot.subplots()
    assert WordWeightsDisplay.from_estimator(model(TWO), ax=ax).axes_ == [ax]
    with pytest.raises(tb.TallyBayesError, match="a panel each"):
        WordWeightsDisplay.from_estimator(model(THREE), ax=ax)
