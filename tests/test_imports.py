"""The package loads at once: heavy packages wait until something needs them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tallybayes as tb

HEAVY = ("numba", "sklearn", "pyarrow", "pandas", "polars", "scipy", "matplotlib", "jinja2")
SMALL = """
rows = [{"n": 1.5 * k, "t": "ab"[k % 2], "b": k % 3 == 0, "c": k, "s": k % 2} for k in range(10)]
y = ["p", "q", "r", "p", "q"] * 2
kinds = {"c": tb.Count(), "s": tb.Binary(), "n": tb.Numeric()}
model = tb.estimate(tb.Tally.of(rows, y, columns=kinds))
assert abs(model.posterior(rows).sum() - 10) < 1e-9
assert set(model.posterior_of(rows[0])) == {"p", "q", "r"}
model.predict(rows), model.sample(3, seed=0)
"""


def heavy_packages_after(code):
    """Run code in a new interpreter; return which heavy packages it loaded."""
    report = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"import tallybayes as tb\n{code}\n{report}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.split()


def test_importing_the_package_loads_no_heavy_package():
    assert heavy_packages_after("") == []


def test_importing_the_package_does_not_even_load_numpy():
    assert heavy_packages_after("import sys; assert 'numpy' not in sys.modules") == []


ESTIMATORS = {name for name in tb.__all__ if name.endswith(("NB", "NaiveBayes", "load"))}


def test_every_name_of_the_core_can_be_used_without_a_heavy_package():
    core = sorted(set(tb.__all__) - ESTIMATORS)
    assert heavy_packages_after(f"[getattr(tb, name) for name in {core}]") == []


def test_only_estimators_load_scikit_learn_and_they_load_no_numba():
    loaded = heavy_packages_after("tb.NaiveBayes, tb.GaussianNB")
    assert "sklearn" in loaded  # which loads whatever of pandas and pyarrow there is
    assert "numba" not in loaded


def test_ten_rows_wait_for_no_heavy_package():
    assert heavy_packages_after(SMALL) == []


def test_the_measure_notices_a_heavy_package():
    assert "scipy" in heavy_packages_after("import scipy.sparse")


@pytest.mark.parametrize("name", tb.__all__)
def test_every_public_name_resolves_and_is_documented(name):
    value = getattr(tb, name)
    assert value.__name__ == name
    own = vars(value)["__doc__"] if isinstance(value, type) else value.__doc__
    assert own
    assert not own.startswith(f"{name}(")  # a dataclass writes its signature if nobody says more


@pytest.mark.parametrize("package", ["", ".sources", ".validation", ".workflows"])
def test_names_are_listed_once_in_the_stub_and_all_of_them_are_there(package):
    module = import_module(f"tallybayes{package}")
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="Taly"):
        _ = module.Taly


def test_the_version_is_text():
    assert tb.__version__.count(".") >= 2


ROOT = Path(__file__).parents[1]
FILES = [path for part in ("src", "benchmarks", "examples") for path in (ROOT / part).rglob("*.py")]


def test_every_name_that_is_imported_from_the_package_is_there():
    """Also inside of functions, and where names resolve only when they are asked for."""
    wanted = {
        (node.module, alias.name)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tallybayes")
        for alias in node.names
    }
    assert len(wanted) > 500
    missing = []
    for module, name in sorted(wanted):
        if not hasattr(import_module(module), name):
            try:
                import_module(f"{module}.{name}")
            except ModuleNotFoundError:
                missing.append((module, name))
    assert missing == []
