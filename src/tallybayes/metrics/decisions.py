"""Which class is said where mistakes do not all cost the same: by a threshold, or by losses.

With the loss L(c, d) of saying d where c is true, the least expected loss has the class
argmin_d sum_c P(c | x) L(c, d). Of two classes that is a threshold: with losses for mistakes only,
the positive class is said from P = L(neg, pos) / (L(neg, pos) + L(pos, neg)) on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, did_you_mean, number
from tallybayes.metrics.confusion import place_of
from tallybayes.rendering.words import class_said
from tallybayes.sources.labels import Label
from tallybayes.value import Value

Codes = NDArray[np.intp]


class Threshold(Value, frozen=True):
    """The positive one of two classes is said from a probability on; the last one if none is named.

    Examples
    --------
    >>> Threshold(0.2).places(np.array([[0.7, 0.3], [0.9, 0.1]]), ("no", "yes")).tolist()
    [1, 0]
    """

    p: float

    def __post_init__(self) -> None:
        self._put(p=number(self.p, "the threshold", least=0.0, most=1.0))

    def check(self, classes: Sequence[Label]) -> None:
        """Refuse a model that has not two classes."""
        if len(classes) != 2:
            raise TallyBayesError(
                f"a threshold is for two classes, and there are {len(classes)}; say what each "
                "mistake costs: losses"
            )

    def places(
        self, posterior: Floats, classes: Sequence[Label], positive: Label | None = None
    ) -> Codes:
        """Return the place of the class that is said for each row."""
        self.check(classes)
        place = 1 if positive is None else place_of(positive, classes)
        said: Codes = np.where(posterior[:, place] >= self.p, place, 1 - place).astype(np.intp)
        return said

    def words(
        self, classes: Sequence[Label], positive: Label | None = None, target: str = ""
    ) -> str:
        """Say what is decided how, of classes of this name."""
        positive = classes[-1] if positive is None else positive
        return f"{class_said(target, positive)} is said from a probability of {self.p:g} on"


class Losses(Value, frozen=True):
    """What is said has the least expected loss.

    `costs` are of a true class, the one that is said, and what that costs; other mistakes cost 1,
    and right answers nothing. Of equals the first class is said, a named positive class only if it
    costs less than all others.

    Examples
    --------
    >>> Losses((("yes", "no", 5.0),)).places(np.array([[0.8, 0.2], [0.9, 0.1]]), ("no", "yes"))
    array([1, 0])
    """

    costs: tuple[tuple[Label, Label, float], ...]

    def __post_init__(self) -> None:
        costs = [(true, said, number(c, _what(true, said))) for true, said, c in self.costs]
        self._put(costs=tuple(costs))

    @classmethod
    def of(cls, stated: Mapping[Any, float], classes: Sequence[Label]) -> Losses:
        """Read the losses of pairs of a true class and one that is said, which may be text.

        Examples
        --------
        >>> Losses.of({"1:0": 5}, (0, 1)) == Losses.of({(1, 0): 5}, (0, 1))
        True
        """
        return cls(tuple((*_pair(key, classes), loss) for key, loss in stated.items()))

    def check(self, classes: Sequence[Label]) -> None:
        """Refuse classes that are none."""
        for true, said, _ in self.costs:
            for each in (true, said):
                place_of(each, classes, f"{_what(true, said)}: ")

    def table(self, classes: Sequence[Label]) -> Floats:
        """Return all losses: a row for each true class, a column for each that is said."""
        self.check(classes)
        table = 1.0 - np.eye(len(classes))
        for true, said, loss in self.costs:
            table[classes.index(true), classes.index(said)] = loss
        return table

    def places(
        self, posterior: Floats, classes: Sequence[Label], positive: Label | None = None
    ) -> Codes:
        """Return the place of the class that is said for each row."""
        from tallybayes.metrics.predictions import winners

        return winners(-(posterior @ self.table(classes)), classes, positive)

    def words(
        self, classes: Sequence[Label], positive: Label | None = None, target: str = ""
    ) -> str:
        """Say what is decided how, of classes of this name."""
        return "what is said costs least; " + ", ".join(
            f"{class_said(target, said)} where {class_said(target, true)} is true costs {loss:g}"
            for true, said, loss in self.costs
        )


Rule = Threshold | Losses


def _what(true: Label, said: Label) -> str:
    return f"the loss of saying {said!r} for {true!r}"


def _pair(key: Any, classes: Sequence[Label]) -> tuple[Label, Label]:
    """Return the classes that a pair names, itself or as TRUE:SAID."""
    if isinstance(key, tuple) and len(key) == 2:
        return key
    by_name = {str(each): each for each in classes}
    text = str(key)
    cuts = [place for place, sign in enumerate(text) if sign == ":"]
    for cut in cuts:
        true, said = text[:cut], text[cut + 1 :]
        if true in by_name and said in by_name:
            return by_name[true], by_name[said]
    if not cuts:
        raise TallyBayesError(f"{key!r} names no loss; write TRUE:SAID, such as spam:ham")
    true, _, said = text.partition(":")
    unknown = said if true in by_name else true
    raise TallyBayesError(
        f"the loss of {text!r} is of the unknown class {unknown!r}; "
        f"{did_you_mean(unknown, list(by_name))}"
    )
