"""The model file: what was counted and how to estimate from it, in one `.tally` file."""

from tallybayes.modelfile.change import Change, changing
from tallybayes.modelfile.provenance import Provenance
from tallybayes.modelfile.reading import is_model_file, load
from tallybayes.modelfile.stored import Stored
from tallybayes.modelfile.writing import dump_bytes, save

__all__ = [
    "Change",
    "Provenance",
    "Stored",
    "changing",
    "dump_bytes",
    "is_model_file",
    "load",
    "save",
]
