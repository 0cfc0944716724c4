"""What the user asks for: which columns, of what families, with what smoothing and prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.families import FAMILIES, ByClass, RelativeFloor, Text
from tallybayes.families.categorical import Unseen
from tallybayes.model.calibration import How
from tallybayes.model.column_specs import BEST
from tallybayes.sources.labels import Label
from tallybayes.tokenizer import Words


@dataclass(frozen=True, slots=True)
class Spec:
    """How a model is to be made.

    Parameters
    ----------
    columns
        "auto", "best", a family, or a mapping of columns to families: as for `NaiveBayes`.
    text
        Columns of text, of which the words are counted.
    drop
        Columns to leave out.
    only
        Columns to use, if not all.
    alpha, prior, unseen, positive, calibration
        As for `NaiveBayes`. Labels may be given as text.

    Examples
    --------
    >>> Spec(columns={"income": "gaussian"}, text=("subject",)).said
    {'subject': 'text', 'income': 'gaussian'}
    """

    columns: Any = "auto"
    text: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    alpha: float = 1.0
    prior: Any = "empirical"
    unseen: Unseen = "ignore"
    positive: Label | None = None
    calibration: How | None = None

    @property
    def said(self) -> Any:
        """What is said of the columns, text included, as `NaiveBayes` takes it."""
        if not self.text:
            return self.columns
        if isinstance(self.columns, str) and self.columns == "auto":
            return dict.fromkeys(self.text, "text")
        if isinstance(self.columns, Mapping):
            return {**dict.fromkeys(self.text, "text"), **self.columns}
        # one word for all columns: those of text come first
        return {**dict.fromkeys(self.text, "text"), ...: self.columns}

    def chosen(self, names: tuple[str, ...], target: str, weight: str | None) -> tuple[str, ...]:
        """Return the columns to use, of all that there are."""
        if target not in names:
            raise TallyBayesError(
                f"there is no column {target!r} to predict; {did_you_mean(target, names)}"
            )
        said = list(self.said) if isinstance(self.said, Mapping) else []
        asked = {name for name in said if isinstance(name, str)}
        for name in (*self.drop, *self.only, *asked, *([weight] if weight else [])):
            if name not in names:
                raise TallyBayesError(f"there is no column {name!r}; {did_you_mean(name, names)}")
            if name == target:
                raise TallyBayesError(
                    f"{name!r} is what is predicted; it cannot be dropped, declared, or be one of "
                    "the columns too"
                )
        if weight in asked:
            raise TallyBayesError(
                f"column {weight!r} says how often each row counts (--weight); it cannot be "
                "declared as one of the columns too"
            )
        for name in self.drop:
            if name in asked or name in self.only:
                raise TallyBayesError(f"column {name!r} is dropped and asked for; do one of both")
        used = {*(self.only or names), *asked} - {target, weight, *self.drop}
        chosen = tuple(name for name in names if name in used)
        if not chosen:
            raise TallyBayesError(
                f"no column is left to predict {target!r} from; drop fewer, or add some to the data"
            )
        return chosen

    def for_labels(self, labels: tuple[Label, ...]) -> Spec:
        """Return the specification with labels that were given as text turned into real ones."""
        positive, prior = self.positive, self.prior
        if positive is not None:
            positive = label_of(positive, labels)
        if isinstance(prior, Mapping):
            prior = {label_of(label, labels): p for label, p in prior.items()}
        columns = _for_labels(self.columns, labels)
        if isinstance(columns, Mapping):
            columns = {name: _for_labels(word, labels) for name, word in columns.items()}
        return replace(self, columns=columns, positive=positive, prior=prior)

    def estimator(self) -> Any:
        """Return the estimator that is asked for."""
        from tallybayes.estimators import NaiveBayes

        return NaiveBayes(
            self.said,
            prior=self.prior,
            alpha=self.alpha,
            unseen=self.unseen,
            positive=self.positive,
            calibration=self.calibration,
        )

    def with_families(self, word: Any) -> Spec:
        """Return the specification with a word for all columns of which nothing is declared."""
        declared = dict(self.columns) if isinstance(self.columns, Mapping) else {}
        declared.pop(..., None)
        if isinstance(word, Mapping):
            return replace(self, columns={**declared, **word})
        if isinstance(word, str) and word == "auto":
            return replace(self, columns=declared or "auto")
        return replace(self, columns={...: word, **declared} if declared else word)

    def without_choices(self) -> Spec:
        """Return what is known of the columns before families are chosen for them."""
        said = self.said
        if isinstance(said, Mapping):
            stated = {name: word for name, word in said.items() if not _is_best(word)}
            return replace(self, columns=stated, text=())
        return replace(self, columns="auto" if _is_best(said) else said, text=())

    @property
    def needs_all_rows(self) -> str:
        """Why the model cannot be made from a stream, or nothing."""
        said = self.said
        words = said.values() if isinstance(said, Mapping) else [said]
        if any(map(_is_best, words)):
            return "families are chosen by leaving rows out"
        return "" if self.calibration is None else "the calibration is fitted by leaving rows out"


def _for_labels(word: Any, labels: tuple[Label, ...]) -> Any:
    """Return a family whose guesses by class are for real labels."""
    guess = getattr(word, "p", None)
    if not isinstance(guess, ByClass):
        return word
    return replace(word, p=ByClass({label_of(k, labels): p for k, p in guess.p.items()}))


def _is_best(word: Any) -> bool:
    return word is BEST or (isinstance(word, str) and word == "best")


def label_of(word: Label, labels: tuple[Label, ...]) -> Label:
    """Return the label that is meant: an equal one, or one that is written alike.

    Examples
    --------
    >>> label_of("1", (0, 1)), label_of("true", (False, True)), label_of("new", ("old",))
    (1, True, 'new')
    """
    if not isinstance(word, str) or word in labels:
        return word
    for label in labels:
        if not isinstance(label, str) and str(label).lower() == word.lower():
            return label
    kinds = {type(label) for label in labels}
    for kind in (int, float):
        if kinds == {kind}:
            try:
                return kind(word)
            except ValueError:
                pass
    return word


_WORDS = {each.name for each in fields(Words)}


def parse_column(text: str) -> tuple[str, Any]:
    """Read a column and its family: ``status=categorical:alpha=1``.

    Examples
    --------
    >>> parse_column("status=categorical:alpha=1,unseen=smooth")
    ('status', Categorical(alpha=1.0, unseen='smooth'))
    """
    name, rest = _cut(text)
    if not name or not rest:
        raise TallyBayesError(
            f"{text!r} does not say what a column is; write NAME=FAMILY, for example "
            "income=gaussian or status=categorical:alpha=1"
        )
    return name, parse_family(rest)


def _cut(text: str) -> tuple[str, str]:
    """Cut before the family; a name may have "=" and ":" too."""
    parts = text.split("=")
    for place in range(1, len(parts)):
        word = parts[place].partition(":")[0]
        if _word(word) in (*FAMILIES, "best"):
            return "=".join(parts[:place]), "=".join(parts[place:])
    name, _, rest = text.partition("=")
    return name, rest


def _word(text: str) -> str:
    return text.strip().lower().replace("-", "_")


def parse_family(text: str) -> Any:
    """Read a family with options: ``bins:edges=18;65``, ``text:ngrams=1;2,event=bernoulli``."""
    word, _, rest = text.partition(":")
    word = _word(word)
    if word not in (*FAMILIES, "best"):
        raise TallyBayesError(
            f"there is no family {word!r}; {did_you_mean(word, (*FAMILIES, 'best'))}"
        )
    options = dict(_option(part) for part in rest.split(",") if part.strip())
    if word == "best":
        if options:
            raise TallyBayesError("'best' takes no options")
        return "best"
    kind: Any = FAMILIES[word]
    known = {each.name for each in fields(kind)} | (_WORDS if kind is Text else set())
    known -= {"words", "idf"}  # which take more than can be typed
    for name in options:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise TallyBayesError(f"{word} has no option {name!r}; {hint}")
    if kind is Text:
        of_words = {name: options.pop(name) for name in list(options) if name in _WORDS}
        return Text(Words(**of_words), **options)
    return kind(**options)


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise TallyBayesError(f"{text.strip()!r} is not an option; write name=value")
    name = name.strip()
    if name in ("stop_words", "vocabulary"):
        return name, tuple(word.strip() for word in value.split(";") if word.strip())
    found = _value(value.strip())
    if name == "edges" and isinstance(found, int | float):
        return name, (found,)
    return name, RelativeFloor(found) if name == "floor" else found


def _value(text: str) -> Any:
    """Read a number, a truth value, several of them (1;2), or a word; Yes:1/3;No:2/3 by class."""
    pairs = [part.partition(":") for part in text.split(";") if part]
    if pairs and all(colon for _, colon, _ in pairs):
        return ByClass({label.strip(): _value(p.strip()) for label, _, p in pairs})
    if ";" in text:
        return tuple(_value(part) for part in text.split(";") if part)
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float, lambda word: float(Fraction(word))):
        try:
            return kind(text)
        except (ValueError, ZeroDivisionError):
            pass
    return text
