"""What a user should do something about, in plain sentences that name the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tallybayes.validation.diagnosis.dependence import DependentPair
from tallybayes.validation.diagnosis.information import ColumnInformation
from tallybayes.validation.diagnosis.normality import NormalityOfColumn

MOST_GROUPS = 10
MOST_NAMED = 6
SAME = 0.9  # strengths below say much of the same, but not all
EQUAL = 1e-6  # bits


def of_information(told: Sequence[ColumnInformation]) -> Iterator[str]:
    """Warn of columns that tell less than nothing, or rule out what is true."""
    names = [each.column for each in told if each.misleads and each.rules_out]
    if names:
        one = len(names) == 1
        has, it = ("has", "it") if one else ("have", "them")
        yield (
            f"{listed(names)} {has} values that the model holds to be impossible in the class of "
            f"the row, so that no other column can save it; smooth {it} (alpha above 0), use "
            f"another family for {it}, or drop {it}"
        )
    names = [each.column for each in reversed(told) if each.misleads and not each.rules_out]
    if names:
        alone, it = "on their own they predict", "them"
        if len(names) == 1:
            alone, it = "on its own it predicts", "it"
        yield (
            f"{listed(names)} {'tells' if len(names) == 1 else 'tell'} less than nothing: {alone} "
            f"these rows worse than no column at all; use another family for {it}, or drop {it}"
        )


def of_dependence(
    pairs: Sequence[DependentPair], told: Sequence[ColumnInformation], weighted: bool
) -> Iterator[str]:
    """Warn of the columns that say the same thing, a sentence for each group of them.

    In a group every column depends strongly on every other one. `told` are the columns in the
    order of what they tell; a `weighted` model gives them weights already.
    """
    place = {each.column: k for k, each in enumerate(told)}
    warned = [pair for pair in pairs if pair.warned]
    strength = {frozenset((pair.a, pair.b)): pair.strength for pair in warned}
    groups: list[list[str]] = []
    for pair in warned:
        mine = [_group_of(groups, name) for name in (pair.a, pair.b)]
        if mine[0] is mine[1] or any(
            frozenset((a, b)) not in strength for a in mine[0] for b in mine[1]
        ):
            continue
        groups = [group for group in groups if group not in mine]
        groups.append(sorted((*mine[0], *mine[1]), key=place.__getitem__))
    groups.sort(key=lambda each: -max(_inside(each, strength)))
    for group in groups[:MOST_GROUPS]:
        bits = [told[place[name]].bits for name in group]
        yield _sentence(group, _inside(group, strength), bits, weighted)
    if len(groups) > MOST_GROUPS:
        n = len(groups) - MOST_GROUPS
        yield f"{n} more {'group' if n == 1 else 'groups'} of columns repeat each other like that"
    across = [pair for pair in warned if not any({pair.a, pair.b} <= set(g) for g in groups)]
    if across:
        named = [f"{pair.a!r} and {pair.b!r} ({pair.strength:.2f})" for pair in across[:MOST_NAMED]]
        more = f", and {len(across) - MOST_NAMED} more" if len(across) > MOST_NAMED else ""
        yield f"further pairs depend on each other, given the class: {', '.join(named)}{more}"


def _group_of(groups: Sequence[list[str]], name: str) -> list[str]:
    return next((group for group in groups if name in group), [name])


def _inside(group: Sequence[str], strength: Mapping[frozenset[str], float]) -> list[float]:
    """Return how strongly the columns of a group depend on each other."""
    return [value for pair, value in strength.items() if pair <= set(group)]


def _sentence(
    group: Sequence[str], inside: Sequence[float], bits: Sequence[float], weighted: bool
) -> str:
    """Warn of one group, whose first column tells most."""
    n, clearly = len(group), bits[0] - bits[1] > EQUAL
    same = "the same thing" if min(inside) >= SAME else "much the same thing"
    counted = "their evidence" if min(inside) >= SAME else "much of their evidence"
    if n == 2:
        times, each, least = "twice", "they depend on each other", ""
        remedy = "drop one of them" + (f" ({group[1]!r} tells less)" if clearly else "")
    else:
        times, each, least = f"{n} times", "any two of them depend on each other", "at least "
        remedy = "keep one of them" + (f" ({group[0]!r} tells most)" if clearly else "")
    more = ', or use calibration="weights"'
    if weighted:
        more = '; the model\'s calibration="weights" makes up for a part of it'
    return (
        f"{listed(group)} say {same} {times}: given the class {each} {least}as strongly as a "
        f"correlation of {min(inside):.2f} does, so {counted} is counted {times}; {remedy}{more}"
    )


def of_normality(columns: Sequence[NormalityOfColumn]) -> Iterator[str]:
    """Warn of columns that another family fits better."""
    group = [each for each in columns if each.better is not None]
    if not group:
        return
    named = [f"{each.column!r} ({each.short_word})" for each in group[:MOST_NAMED]]
    taken = " or ".join(
        sorted({"log-normal" if each.family == "log_normal" else "normal" for each in group})
    )
    is_ = "is" if len(group) == 1 else "are"
    wish = ", ".join(
        f"{each.column!r}: {each.better.name!r}" for each in group[:MOST_NAMED] if each.better
    )
    more = ", ..." if len(group) > MOST_NAMED else ""
    yield (
        f"{_joined(named, len(group))} {is_} taken for {taken} but {is_} not; rows held out are "
        f"predicted better with columns={{{wish}{more}}}"
    )


def listed(names: Sequence[str]) -> str:
    """Write names in a row.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    "'a', 'b' and 'c'"
    """
    return _joined([repr(name) for name in names[:MOST_NAMED]], len(names))


def _joined(named: Sequence[str], n: int) -> str:
    if n > len(named):
        return f"{', '.join(named)} and {n - len(named)} more"
    return ", ".join(named[:-1]) + (" and " if n > 1 else "") + named[-1]
