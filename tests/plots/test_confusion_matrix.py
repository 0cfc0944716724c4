"""The picture of the confusion matrix: scikit-learn's counts, turned to the lectures' side."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import Perceptron

from plots.scored_rows import HOSTILE, drawn, many_classes, weights_of
from tallybayes import GaussianNB
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Confusion
from tallybayes.plots.confusion_matrix import ConfusionMatrixDisplay


def labelled(k, n=300, labels=None):
    y, proba, labels = many_classes(k, n, labels=labels)
    return y, np.array(labels, object)[proba.argmax(1)], labels


def cells(display):
    """The text of each cell by (row, column)."""
    return {
        (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text()
        for text in display.ax_.texts
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 5])
def test_rows_are_predicted_and_columns_true(k, weighted):
    y, said, labels = labelled(k)
    weights = weights_of(len(y)) if weighted else None
    display = ConfusionMatrixDisplay.from_predictions(y, said, sample_weight=weights)
    expected = sk.confusion_matrix(y, said, labels=labels, sample_weight=weights).T
    assert display.counts == pytest.approx(expected)
    assert display.shares == pytest.approx(expected / expected.sum(0))
    assert display.confusion.classes == tuple(labels)
    assert display.ax_.get_ylabel() == "predicted class"
    assert display.ax_.get_xlabel() == "true class"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == labels


def test_each_cell_says_its_count_and_its_share_of_the_true_class():
    y = ["no"] * 1200 + ["yes"] * 4
    said = ["no"] * 1150 + ["yes"] * 50 + ["no", "yes", "yes", "yes"]
    display = ConfusionMatrixDisplay.from_predictions(y, said)
    assert cells(display) == {
        (0, 0): "1,150\n95.8%",
        (1, 0): "50\n4.2%",
        (0, 1): "1\n25.0%",
        (1, 1): "3\n75.0%",
    }
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert names == ["no\n1,200 rows", "yes\n4 rows"]


def test_the_shade_grows_with_the_share_and_right_differs_from_wrong():
    y, said, _ = labelled(4)
    display = ConfusionMatrixDisplay.from_predictions(y, said)
    image = np.asarray(display.ax_.images[0].get_array())
    grey = image @ [0.299, 0.587, 0.114]
    right = np.eye(4, dtype=bool)
    for part in (right, ~right):
        order = np.argsort(display.shares[part])
        assert (np.diff(grey[part][order]) <= 1e-12).all()
    assert (image[right][:, 2] > image[right][:, 0]).all()  # blue
    some = ~right & (display.shares > 0.02)
    assert (image[some][:, 0] > image[some][:, 2]).all()  # orange
    assert len(display.ax_.patches) == 4  # and without colour, frames


def test_text_stands_out_from_every_shade():
    counts = np.array([[100, 0, 30], [0, 50, 70], [0, 50, 0]])
    display = ConfusionMatrixDisplay.from_confusion(Confusion(("a", "b", "c"), counts))
    image = np.asarray(display.ax_.images[0].get_array())
    from matplotlib.colors import to_rgb

    def light(colour):
        colour = np.array(colour)
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722] + 0.05

    for text in display.ax_.texts:
        x, y = map(round, text.get_position())
        a, b = light(to_rgb(text.get_color())), light(image[y, x])
        assert max(a, b) / min(a, b) > 3.3, text.get_text()


def test_a_model_is_drawn_by_its_decisions():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(np.repeat([0, 1, 2], 40), 1.0)[:, None]
    model = GaussianNB().fit(X, y)
    expected = sk.confusion_matrix(y, model.predict(X)).T
    for each in (model, model.fitted_, model.model_):
        assert np.array_equal(ConfusionMatrixDisplay.from_estimator(each, X, y).counts, expected)
    other = Perceptron().fit(X, y)  # which knows no probabilities
    expected = sk.confusion_matrix(y, other.predict(X)).T
    assert np.array_equal(ConfusionMatrixDisplay.from_estimator(other, X, y).counts, expected)
    weights = weights_of(120)
    found = ConfusionMatrixDisplay.from_estimator(model, X, y, sample_weight=weights).counts
    assert found == pytest.approx(sk.confusion_matrix(y, model.predict(X), sample_weight=weights).T)


def test_labels_set_the_order_and_add_classes_that_do_not_occur():
    display = ConfusionMatrixDisplay.from_predictions(
        ["a", "b", "b"], ["b", "b", "a"], labels=["b", "never", "a"]
    )
    assert display.counts.tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert np.isnan(display.shares[:, 1]).all()
    assert cells(drawn(display))[1, 1] == "0"


def test_of_forty_classes_the_most_confused_are_drawn_and_the_others_together():
    y, said, labels = labelled(40, 2000)
    display = drawn(ConfusionMatrixDisplay.from_predictions(y, said, labels=labels))
    whole = sk.confusion_matrix(y, said, labels=labels).T
    assert display.counts.shape == (12, 12)
    assert display.counts.sum() == 2000
    shown = list(display.drawn)
    assert np.array_equal(display.counts[:-1, :-1], whole[np.ix_(shown, shown)])
    rest = [k for k in range(40) if k not in shown]
    assert display.counts[-1, :-1].tolist() == whole[np.ix_(rest, shown)].sum(0).tolist()
    assert display.counts[:-1, -1].tolist() == whole[np.ix_(shown, rest)].sum(1).tolist()
    assert display.counts[-1, -1] == whole[np.ix_(rest, rest)].sum()
    wrong = whole - np.diag(whole.diagonal())
    row, column = np.unravel_index(wrong.argmax(), wrong.shape)
    assert {row, column} <= set(shown)
    assert [text.get_text() for text in display.ax_.get_yticklabels()][-1] == "29 others"
    assert "29 classes are drawn together" in display.alt_text
    assert f"{wrong.max()} rows" in display.alt_text
    assert len(display.ax_.patches) == 11  # the others' cell is not all right
    image = np.asarray(display.ax_.images[0].get_array())
    assert np.ptp(image[-1, -1]) < 0.01
    everything = ConfusionMatrixDisplay.from_predictions(y, said, labels=labels, most=40)
    assert np.array_equal(everything.counts, whole)


def test_the_pair_that_is_confused_most_is_drawn_before_classes_with_many_small_mistakes():
    counts = np.zeros((5, 5), int)
    counts[0] = 4  # mistakes of all sorts
    counts[3, 4] = 10
    table = Confusion(tuple("abcde"), counts)
    assert ConfusionMatrixDisplay.from_confusion(table, most=3).drawn == (3, 4)
    assert ConfusionMatrixDisplay.from_confusion(table, most=2).drawn == (4,)


def test_cells_of_zero_stay_empty_where_there_are_many():
    counts = np.diag(np.full(8, 500))
    counts[0, 1] = 1
    display = ConfusionMatrixDisplay.from_confusion(Confusion(tuple("abcdefgh"), counts))
    assert len(display.ax_.texts) == 9
    assert cells(display)[0, 1] == "1\n<1%"


def test_the_alt_text_has_the_share_right_and_the_worst_pairs():
    y = ["a"] * 10 + ["b"] * 20 + ["c"] * 5
    said = ["a"] * 9 + ["b"] + ["b"] * 13 + ["a"] * 7 + ["c"] * 5
    text = ConfusionMatrixDisplay.from_predictions(y, said).alt_text
    assert "35 rows and 3 classes: 27 (77.1%) are right" in text
    assert "Most often b is taken for a: 7 rows, 35.0% of b; then a for b: 1 row, 10.0%" in text
    perfect = ConfusionMatrixDisplay.from_predictions(["a", "b"], ["a", "b"]).alt_text
    assert perfect.endswith("2 (100.0%) are right.")


def test_labels_of_users_are_shown_as_they_are_and_shortened():
    y, said, labels = labelled(4, labels=HOSTILE)
    display = drawn(ConfusionMatrixDisplay.from_predictions(y, said, labels=labels))
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[0].startswith(r"\$_x_\$ long")
    assert names[0].endswith("…")
    assert names[1:] == ["_under<b>", "a & b below", r"\$"]


def test_weights_are_written_as_numbers():
    table = Confusion(("a", "b"), np.array([[1.5, 0.0], [2.0, 0.1 + 0.2]]))
    display = ConfusionMatrixDisplay.from_confusion(table)
    found = {place: text.split("\n")[0] for place, text in cells(display).items()}
    assert found == {(0, 0): "1.5", (0, 1): "0", (1, 0): "2", (1, 1): "0.3"}


def test_axes_of_the_user_are_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert ConfusionMatrixDisplay.from_predictions(["a", "b"], ["a", "a"], ax=ax).ax_ is ax


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(TallyBayesError, match="give one each"):
        ConfusionMatrixDisplay.from_predictions(["a", "b"], ["a"])
    with pytest.raises(TallyBayesError, match="y_pred holds 'z' in row 1"):
        ConfusionMatrixDisplay.from_predictions(["a", "b"], ["a", "z"], labels=["a", "b"])
    with pytest.raises(TallyBayesError, match="most is 1"):
        ConfusionMatrixDisplay.from_predictions(["a", "b"], ["a", "b"], most=1)
