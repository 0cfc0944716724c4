"""The model file: what was counted and how to estimate from it, in one `.tally` file."""

from tallybayes.modelfile.change import ModelChange, changing
from tallybayes.modelfile.manifest import Provenance
from tallybayes.modelfile.model_file import Stored, dump_bytes, is_model_file, load, save

__all__ = [
    "ModelChange",
    "Provenance",
    "Stored",
    "changing",
    "dump_bytes",
    "is_model_file",
    "load",
    "save",
]
