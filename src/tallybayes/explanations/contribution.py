"""What one column, or one word of a text, adds to the score of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallybayes.explanations.plain import plain_number, plain_numbers


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one column, or one word of a text, adds to the score of each class.

    Parameters
    ----------
    column
        The name of the column.
    value
        The value in the record, None if it is missing; of a word, the word itself.
    log_likelihood
        What is added to the logarithm of each class's score: 0 if it is left out.
    times
        How often it occurs: of a word, and of a column that counts; otherwise 1.
    counted
        What that counts: the same, unless words count once a document, by their logarithm, their
        idf or their norm.
    exponent
        The calibration's exponent, which is in the log-likelihood already.
    left_out
        Why the model leaves it out; None if it does not.
    detail
        What the value was taken for, if that is something else: its interval, or "on" and "off".
    words
        The contributions of a text's words, which add up to its own.
    is_word
        Whether this is one of those.
    """

    column: str
    value: Any
    log_likelihood: tuple[float, ...]
    times: float = 1.0
    counted: float = 1.0
    exponent: float = 1.0
    left_out: str | None = None
    detail: str = ""
    words: tuple[Contribution, ...] = ()
    is_word: bool = False

    @property
    def pieces(self) -> tuple[Contribution, ...]:
        """The smallest parts: the words of a text, or the column itself."""
        return self.words or (self,)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it: -inf as text."""
        value = plain_number(self.value) if isinstance(self.value, float) else self.value
        return {
            "column": self.column,
            "value": value,
            "log_likelihood": plain_numbers(self.log_likelihood),
            "times": plain_number(self.times),
            "counted": plain_number(self.counted),
            "exponent": plain_number(self.exponent),
            "left_out": self.left_out,
            "detail": self.detail,
            "words": [word.to_dict() for word in self.words],
        }
