"""Every public method says what it does, itself or by what it overrides."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import tallybayes

OPTIONAL = "pyspark", "psycopg", "duckdb"  # may not be installed
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tallybayes.__path__, "tallybayes.")
    if not module.name.endswith("__main__")
)


def is_public(name):
    return not any(part.startswith("_") for part in name.split("."))


def is_written_out(found):
    return inspect.isfunction(found) and found.__name__ != "<lambda>"


@pytest.mark.parametrize("name", MODULES)
def test_public_methods_have_docstrings_or_inherit_them(name):
    try:
        module = import_module(name)
    except ImportError as error:
        if not any(missing in str(error) for missing in OPTIONAL):
            raise
        pytest.skip(str(error))
    bare = [
        f"{each.__qualname__}.{method}"
        for each in vars(module).values()
        if inspect.isclass(each) and each.__module__ == name and is_public(each.__qualname__)
        for method, found in vars(each).items()
        if is_public(method)
        and is_written_out(getattr(found, "fget", getattr(found, "__func__", found)))
        and not inspect.getdoc(getattr(each, method))
    ]
    assert not bare
