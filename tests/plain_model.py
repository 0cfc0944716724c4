"""The lectures' model of files: what `NaiveBayes` makes of the same table in memory."""

from functools import partial

from tallybayes import workflows
from tallybayes.model import specification

ModelSpec = partial(specification.ModelSpec, plain=True)


def train(data, target, spec=None, **options):
    return workflows.train(data, target, spec or ModelSpec(), **options)


def preview(data, target, spec=None, **options):
    return workflows.preview(data, target, spec or ModelSpec(), **options)
