"""Spark, as users name it: ``from tallybayes import spark``; it needs ``tallybayes[spark]``."""

from tallybayes.engines.spark import *  # noqa: F403
from tallybayes.engines.spark import __all__ as __all__
