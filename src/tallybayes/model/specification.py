"""What a user says of a model: which columns, what they are, how to smooth, which prior.

A column is named by its name or number, and all that are not named by ``...``. What it is, is a
family, the name of one, or a kind; "auto" leaves that to the data, "date" says that the column
holds dates (see `sources.dates`), and "drop" leaves it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import structs

from tallybayes.arrays import Array
from tallybayes.batches import encode_classes
from tallybayes.errors import (
    Option,
    TallyBayesError,
    TallyBayesWarning,
    did_you_mean,
    number,
    warn,
)
from tallybayes.families import FAMILIES, ByClass, Categorical, Family, RelativeFloor, Text
from tallybayes.families.categorical import Unseen
from tallybayes.families.registry import default_family, family_named
from tallybayes.kinds import Intervals, Kind
from tallybayes.metrics.decisions import Losses, Rule, Threshold
from tallybayes.model.calibration import Calibration, How
from tallybayes.model.gaps import Missing
from tallybayes.model.recipe import Fitted, Recipe, family_for
from tallybayes.priors import Fixed, prior_of
from tallybayes.rendering.words import Target
from tallybayes.schema import Schema, no_column, require_titles
from tallybayes.sources import Frame, Source, selected
from tallybayes.sources.dates import Dates, parts_of, with_dates
from tallybayes.sources.labels import Label, sorted_labels
from tallybayes.tallies import Tally
from tallybayes.tokenizer import Words

AUTO, DROP, DATE = "auto", "drop", "date"
PLAIN = Option("plain", True)
Joints = Literal["auto"] | Sequence[Sequence[str]] | None


class ColumnSpec(NamedTuple):
    """What was said of columns by name, and of the rest: families, kinds, or "drop".

    None leaves it to the data what a column is.
    """

    rest: Any
    by_name: Mapping[str, Any]

    def of(self, name: str) -> Any:
        """Return what was said of one column."""
        return self.by_name.get(name, self.rest)

    @property
    def needs_labels(self) -> bool:
        """Whether labels are needed to know what the columns are."""
        return any(_open_family(word) for word in (self.rest, *self.by_name.values()))

    def is_open(self, name: str) -> bool:
        """Tell whether what a column is depends on the data."""
        word = self.of(name)
        return word is None or _open_family(word) is not None

    def kept(self, names: Sequence[str]) -> Sequence[str]:
        """Return the columns that are not dropped."""
        return [name for name in names if self.of(name) != DROP] if self.dropped() else names

    def dropped(self) -> list[str | None]:
        """Return the columns that are dropped; None stands for all that are not named."""
        words: list[tuple[str | None, Any]] = [*self.by_name.items(), (None, self.rest)]
        return [name for name, word in words if word == DROP]

    def laid_out(self, source: Source) -> tuple[Source, ColumnSpec]:
        """Lay out columns of dates, whose parts are left to the data like columns not spoken of."""
        if not isinstance(source, Frame):
            return source, self
        for name, word in self.by_name.items():
            if isinstance(word, Dates) and name not in source.names:
                raise no_column(name, source.names)
        frame = with_dates(source, {name: self.of(name) for name in source.names})
        parts = {part: None for name, _ in frame.dates for part in parts_of(name)}
        return frame, ColumnSpec(self.rest, {**parts, **self.by_name} if parts else self.by_name)

    def require(self, names: Sequence[str]) -> None:
        """Refuse words for columns that are not there; what is dropped need not be."""
        dates = {name.rpartition(".")[0] for name in names}
        for name, word in self.by_name.items():
            if name not in names and word != DROP and not (word is None or name in dates):
                raise no_column(name, names)

    def declared(self, names: Sequence[str]) -> Any:
        """Return what a schema of these columns takes: a word for all, or words by name."""
        if not self.by_name:
            return None if self.rest == DROP else self.rest
        return {n: word for n in names if not isinstance(word := self.of(n), str | None)}

    def families(
        self, schema: Schema, alpha: float, unseen: Unseen
    ) -> tuple[tuple[Family, ...], dict[str, Family]]:
        """Return the families of all columns of a kind, and those of single columns by name."""
        alpha = number(alpha, "alpha", least=0.0)
        Categorical(unseen=unseen)  # refuses what is no word for it
        stated = {
            name: word.with_defaults(alpha, unseen)
            for name in (schema.names if self.by_name else ())
            if isinstance(word := self.of(name), Family)
        }
        for_all = (self.rest,) if isinstance(self.rest, Family) and not self.by_name else ()
        defaults: list[Family] = []
        for group in schema.groups:
            family = family_for(group.kind, for_all).with_defaults(alpha, unseen)
            if family not in defaults:  # several columns of text may be of one kind
                defaults.append(family)
        return tuple(defaults), stated


def column_spec(columns: Any, names: Sequence[str]) -> ColumnSpec:
    """Read the parameter `columns` for columns of these names."""
    if not isinstance(columns, Mapping):
        meant = _meaning(columns, "columns")
        kind = getattr(meant, "kind", meant)
        if meant is not None and not isinstance(kind, Kind):
            raise TallyBayesError(
                f"columns is {columns!r}; expected 'auto', a family, or a mapping of columns to "
                "families"
            )
        return ColumnSpec(meant, {})
    meanings = {key: _meaning(word, f"columns[{key!r}]") for key, word in columns.items()}
    rest = meanings.pop(..., None)
    return ColumnSpec(rest, {_name(key, names): meant for key, meant in meanings.items()})


def _meaning(word: Any, where: str) -> Any:
    """Return a family, a kind, "drop", or None for "auto"."""
    if word is None:
        raise TallyBayesError(
            f"{where} is None; to leave a column out, say columns={{name: 'drop'}}, or drop it "
            "from X"
        )
    if not isinstance(word, str):
        return word() if isinstance(word, type) else word
    if word in (AUTO, DROP):
        return None if word == AUTO else word
    return Dates.meant(word) or family_named(word, where, (AUTO, DROP, DATE))()


def _name(key: Any, names: Sequence[str]) -> str:
    """Return the name of a column that is given by its name or number."""
    if not isinstance(key, str | int | np.integer) or isinstance(key, bool):
        raise TallyBayesError(
            f"columns has the key {key!r}; expected a name or a number (of several columns: "
            "dict.fromkeys(names, 'gaussian'))"
        )
    if isinstance(key, str) or str(key) in names:
        return str(key)
    if not -len(names) <= key < len(names):
        raise TallyBayesError(f"there is no column number {key}; there are {len(names)} columns")
    return str(names[int(key)])


def resolve(
    spec: ColumnSpec, source: Source, y: Any, weights: Array | None
) -> tuple[Any, ColumnSpec]:
    """Let families that depend on labels find what to count: the edges of intervals.

    Returns what a schema takes, and the specification to remember. They differ in columns without
    a value yet: the schema has them in one interval, and what they are stays open.
    """
    if not spec.needs_labels:
        return spec.declared(source.names), spec
    settled, remembered = dict(spec.by_name), dict(spec.by_name)
    labels = encode_classes(y, source.n_rows)
    for name in source.names:
        word = spec.of(name)
        family = _open_family(word)
        if family is None:
            continue
        column = selected(source, source.names, [name]).columns[name]
        x = np.asarray(column.numbers(slice(0, source.n_rows)), np.float64)
        cut: Any = family.resolved(x, labels.codes, len(labels.labels), weights)
        settled[name] = cut if word is family else structs.replace(word, edges=cut.kind.edges)
        empty = np.isnan(x if weights is None else x[weights > 0.0]).all()
        remembered[name] = word if empty else settled[name]
    return ColumnSpec(spec.rest, settled).declared(source.names), ColumnSpec(spec.rest, remembered)


def _open_family(word: Any) -> Family | None:
    """Return the family that has to see labels before it knows what to count, if that is meant."""
    family = default_family(word) if isinstance(word, Intervals) else word
    return family if isinstance(family, Family) and family.needs_labels() else None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """How a model is to be made of a table that has its target among its columns.

    Parameters
    ----------
    columns
        "auto", a family, or a mapping of columns to families: as for `NaiveBayes`.
    text
        Columns of text, of which the words are counted.
    drop
        Columns to leave out.
    only
        Columns to use, if not all.
    alpha, prior, unseen, positive
        As for `SemiNaiveBayes`, or `NaiveBayes`. Labels may be given as text.
    joints
        As for `SemiNaiveBayes`.
    plain
        Whether to take the lectures' model, `NaiveBayes`, and not the best, `SemiNaiveBayes`.
    calibration, missing
        As for `NaiveBayes`: of the plain model. The best weighs all evidence, gaps included.
    threshold
        From which probability on the positive one of two classes is said.
    losses
        What it costs to say a class where another is true, by ``(true, said)`` or "true:said";
        other mistakes cost 1. What is said has the least expected loss.
    labels, titles
        What sentences, tables and pictures call the classes, and the columns.

    Examples
    --------
    >>> ModelSpec(columns={"income": "gaussian"}, text=("subject",)).declared
    {'subject': 'text', 'income': 'gaussian'}
    """

    columns: Any = AUTO
    text: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    alpha: float = 1.0
    prior: Any = None
    unseen: Unseen = "ignore"
    positive: Label | None = None
    joints: Joints = AUTO
    plain: bool = False
    calibration: How | None = None
    missing: Missing = "ignore"
    threshold: float | None = None
    losses: Mapping[Any, float] | None = None
    labels: Mapping[Any, str] | None = None
    titles: Mapping[str, str] | None = None

    def target_of(self, name: str) -> str:
        """Return the name of what is predicted, with what it and its classes are called."""
        return Target.of(name, self.labels, (self.titles or {}).get(name))

    @property
    def declared(self) -> Any:
        """What is said of the columns, text included, as `NaiveBayes` takes it."""
        texts = dict.fromkeys(self.text, "text")
        return {**texts, **by_column(self.columns)} if texts else self.columns

    @property
    def stated_prior(self) -> Any:
        """The prior that is asked for, or else the model's own."""
        own = "empirical" if self.plain else "smoothed"
        return own if self.prior is None else self.prior

    @property
    def needs_all_rows(self) -> str:
        """Why the model cannot be made from a stream, or nothing."""
        return "" if self.calibration is None else "the calibration is fitted by leaving rows out"

    def of_columns(self, names: Sequence[str]) -> ModelSpec:
        """Return the specification for these columns: texts alone are for the plain model.

        Options of one model are refused with the other. A family that is stated is a view of its
        column in the best.
        """
        said = column_spec(self.declared, names)
        kinds = [getattr(said.of(name), "kind", said.of(name)) for name in said.kept(names)]
        if all(isinstance(kind, Words) for kind in kinds):
            return replace(self, plain=True, joints=AUTO)
        if self.plain and self.joints != AUTO:
            raise TallyBayesError(
                f"joints are counted by the best model, and {PLAIN} is asked for; leave out one of "
                "both",
                remedy=PLAIN,
            )
        if self.calibration is not None and not self.plain:
            raise TallyBayesError(
                f"a calibration is for the plain model, {PLAIN}; the best weighs all evidence "
                "already, so leave the calibration out",
                remedy=PLAIN,
            )
        return self

    def chosen(self, names: Sequence[str], target: str, weight: str | None) -> tuple[str, ...]:
        """Return the columns to use, of all that there are."""
        if target not in names:
            raise no_column(target, names, "to predict")
        require_titles(self.titles, names)
        declared = {*self.text, *by_column(self.columns)} - {...}
        for name in (*self.drop, *self.only, *declared, *([weight] if weight else [])):
            if name not in names and name.rpartition(".")[0] not in names:  # a part of dates
                raise no_column(name, names)
            if name == target:
                raise TallyBayesError(
                    f"{name!r} is what is predicted; it cannot be dropped, declared, or be one of "
                    "the columns too"
                )
            if name in self.drop and (name in declared or name in self.only):
                raise TallyBayesError(f"column {name!r} is dropped and asked for; do one of both")
        if weight in declared:
            raise TallyBayesError(
                f"column {weight!r} says how often each row counts ({Option('weight')}); it cannot "
                "be declared as one of the columns too",
                remedy=Option("weight"),
            )
        used = {*(self.only or names), *declared} - {target, weight, *self.drop}
        if not used:
            raise TallyBayesError(
                f"no column is left to predict {target!r} from; drop fewer, or add some to the data"
            )
        return tuple(name for name in names if name in used)

    def for_labels(self, labels: tuple[Label, ...]) -> ModelSpec:
        """Return the specification with labels that were given as text turned into real ones."""

        def real(label: Any) -> Any:
            return label_of(label, labels)

        def relabelled(word: Any) -> Any:  # guesses by class are for real labels
            p: Any = getattr(word, "p", None)
            return structs.replace(word, p=p.relabelled(real)) if hasattr(p, "relabelled") else word

        prior, columns = self.prior, self.columns
        if isinstance(prior, Mapping):
            prior = {real(label): p for label, p in prior.items()}
        if isinstance(columns, Mapping):
            columns = {name: relabelled(word) for name, word in columns.items()}
        else:
            columns = relabelled(columns)
        return replace(self, columns=columns, positive=real(self.positive), prior=prior)

    def rule(self, classes: tuple[Label, ...]) -> Rule | None:
        """Return how a class is decided for, if a threshold or losses are given."""
        if self.threshold is None:
            if not self.losses:
                return None
            rule: Rule = Losses.of(self.losses, classes)
        elif self.losses:
            raise TallyBayesError("there are a threshold and losses; give one of both")
        else:
            rule = Threshold(self.threshold)
        rule.check(classes)
        return rule

    def used_on(self, fitted: Fitted) -> Fitted:
        """Give a model the prior, the positive class and the rule of decision that are stated.

        Examples
        --------
        >>> from tallybayes import Tally
        >>> fitted = Fitted(Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"]))
        >>> ModelSpec(threshold=0.3).used_on(fitted).model.predict({"status": ["Married"]}).tolist()
        ['Yes']
        """
        said = self.for_labels(fitted.classes)
        prior = None if said.prior is None else prior_of(said.prior)
        used = fitted.using(prior, said.positive, said.rule(fitted.classes))
        used.model  # noqa: B018  (what does not fit is refused now)
        return used

    def recipe(self, schema: Schema, columns: ColumnSpec) -> Recipe:
        """Return how a model is estimated from what is counted in a schema."""
        families, by_name = columns.families(schema, self.alpha, self.unseen)
        return Recipe(families, by_name, prior_of(self.stated_prior), self.positive)

    def fitted(
        self, tally: Tally, columns: ColumnSpec, calibration: Calibration | None, source: str
    ) -> Fitted:
        """Say how a model is estimated from what was counted; what does not fit is refused now."""
        if not tally.classes:
            raise TallyBayesError(
                f"{source} has no row to learn from: all were set aside, or weigh 0"
            )
        if len(tally.classes) == 1:
            warn(
                f"every row that was read of {source} has the label {tally.classes[0]!r} in "
                f"column {tally.schema.target!r}: the model can give no other answer until rows of "
                "another class are added",
                TallyBayesWarning,
            )
        recipe = self.recipe(tally.schema, columns)
        declared = {} if self.positive is None else {self.positive: "there is no row of"}
        if isinstance(recipe.prior, Fixed):
            declared |= dict.fromkeys(recipe.prior.p, "a prior is stated for")
        for label, what in declared.items():
            if label not in tally.classes:
                hint = did_you_mean(label, tally.classes)
                raise TallyBayesError(f"{what} the unknown class {label!r}; {hint}")
        require_classes(self.labels or {}, (*tally.classes, *declared))
        classes = sorted_labels(declared, "the classes")
        fitted = Fitted(tally, replace(recipe, calibration=calibration, declared_classes=classes))
        fitted.model  # noqa: B018  (a prior or family that does not fit)
        return fitted

    def kept_beside(self, weight: str | None) -> Mapping[str, Any] | None:
        """Return what `load` makes the estimator of, beside what was fitted; None if nothing."""
        unused = [*self.drop, *([weight] if weight else []), *([None] if self.only else [])]
        state: dict[str, Any] = {"dropped": unused} if unused else {}
        if not self.plain:
            of_joints = self.joints
            joints = of_joints if of_joints in (AUTO, None) else [*map(list, of_joints or ())]
            return {"name": "SemiNaiveBayes", "joints": joints, "state": state}
        missing = {"missing": self.missing} if self.missing == "evidence" else {}
        return {"name": "NaiveBayes", **missing, "state": state} if state or missing else None


def by_column(columns: Any) -> Mapping[Any, Any]:
    """Return what is said of the columns, with what is said of all of them under `...`."""
    if isinstance(columns, Mapping):
        return columns
    return {} if columns == AUTO else {...: columns}


def label_of(word: Any, labels: tuple[Label, ...]) -> Any:
    """Return the label that is meant: an equal one, or one that is written alike.

    Examples
    --------
    >>> label_of("1", (0, 1)), label_of("true", (False, True)), label_of("new", ("old",))
    (1, True, 'new')
    """
    if not isinstance(word, str) or not labels or isinstance(labels[0], str):
        return word
    for label in labels:
        if str(label).lower() == word.lower():
            return label
    with suppress(ValueError):
        return word if isinstance(labels[0], bool) else type(labels[0])(word)
    return word


def require_classes(called: Mapping[Any, str], classes: Sequence[Label]) -> None:
    """Refuse names of what is no class."""
    for value, name in called.items():
        if str(value) not in map(str, classes):
            said, meant = Option("labels", {value: name}), did_you_mean(value, classes)
            raise TallyBayesError(f"{said} is of no class that there is; {meant}", remedy=said)


def parse_column(text: str) -> tuple[str, Any]:
    """Read a column and its family: ``status=categorical:alpha=1``.

    Examples
    --------
    >>> parse_column("status=categorical:alpha=1,unseen=smooth")
    ('status', Categorical(alpha=1.0, unseen='smooth'))
    """
    name, _, family = text.partition("=")
    if not name or not family:
        raise TallyBayesError(
            f"{text!r} does not say what a column is; write NAME=FAMILY, for example "
            "income=gaussian or status=categorical:alpha=1"
        )
    return name, family if Dates.meant(family) else parse_family(family)


def parse_family(text: str) -> Any:
    """Read a family with options: ``bins:edges=18;65``, ``text:ngrams=1;2,event=bernoulli``."""
    word, _, typed = text.partition(":")
    word = word.strip().lower().replace("-", "_")
    options = dict(_option(part) for part in typed.split(",") if part.strip())
    if word not in FAMILIES:
        raise TallyBayesError(f"there is no family {word!r}; {did_you_mean(word, FAMILIES)}")
    family: Any = FAMILIES[word]
    of_words = set(Words.__struct_fields__) if family is Text else set()
    known = {*family.__struct_fields__, *of_words} - {"words", "idf"}  # these cannot be typed
    for name in options:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise TallyBayesError(f"{word} has no option {name!r}; {hint}")
    if of_words:
        options["words"] = Words(**{n: options.pop(n) for n in of_words & options.keys()})
    return family(**options)


def _option(text: str) -> tuple[str, Any]:
    name, equals, typed = (part.strip() for part in text.partition("="))
    if not equals:
        raise TallyBayesError(f"{name!r} is not an option; write name=value")
    if name in ("stop_words", "vocabulary"):
        return name, tuple(word.strip() for word in typed.split(";") if word.strip())
    value = _value(typed)
    if name == "edges" and isinstance(value, int | float):
        return name, (value,)
    return name, RelativeFloor(value) if name == "floor" else value


def _value(text: str) -> Any:
    """Read a number, a truth value, several of them (1;2), or a word; Yes:1/3;No:2/3 by class."""
    parts = [part for part in text.split(";") if part]
    if parts and all(":" in part for part in parts):
        by_class = (part.partition(":") for part in parts)
        return ByClass({label.strip(): _value(p.strip()) for label, _, p in by_class})
    if ";" in text:
        return tuple(map(_value, parts))
    for number_of in (int, float, lambda word: float(Fraction(word))):
        with suppress(ValueError, ZeroDivisionError):
            return number_of(text)
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)
