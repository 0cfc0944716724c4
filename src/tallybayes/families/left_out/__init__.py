"""Leave-one-out in closed form: what each row scores without it, for every family."""

# each of these says for some families how a row is left out
from tallybayes.families.left_out import codes, counts, numbers, words
from tallybayes.families.left_out.terms import LeaveOneOutTask, LeftOut, WholeLeftOut, left_out

__all__ = [
    "LeaveOneOutTask",
    "LeftOut",
    "WholeLeftOut",
    "codes",
    "counts",
    "left_out",
    "numbers",
    "words",
]
