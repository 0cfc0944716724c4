"""The size of the work decides which twin runs: small inputs never load a compiler."""

import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.kernels import choice, plain
from tallybayes.tokenizer import bags


def test_the_size_of_the_work_that_a_call_is_part_of_decides():
    for _ in range(3):
        assert choice.loops_for(choice.LARGE - 1) is plain
        assert choice.loops_for(choice.LARGE) is not plain
    with choice.part_of(choice.LARGE):
        assert choice.loops_for(1) is not plain
        with choice.part_of(10):
            assert choice.loops_for(1) is not plain
    assert choice.loops_for(1) is plain


def test_small_inputs_load_no_compiler():
    script = """
        import sys
        import numpy as np
        import tallybayes as tb
        X, y = np.random.default_rng(0).normal(size=(5_000, 20)), np.arange(5_000) % 2
        for _ in range(100):
            model = tb.GaussianNB().fit(X[:100], y[:100])
            model.predict_proba(X[:5])
        tb.GaussianNB().fit(X, y)
        assert "numba" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=300)


def test_the_same_call_gives_the_same_bits_whatever_ran_before():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(3000, 7)), rng.integers(0, 3, 3000)
    table = {"a": X[:, 0], "b": (X[:, 1] > 0.3).astype(int), "t": ["x y", "y z z", "z"] * 1000}

    def answers():
        numbers, mixed = tb.GaussianNB().fit(X, y), tb.NaiveBayes().fit(table, y)
        one = mixed.model_.posterior_of({"a": 0.1, "b": 1, "t": "x z"})
        left_out = tb.NaiveBayes().cross_val({"a": table["a"]}, y, folds="loo").proba
        batches = numbers.predict_proba(X), numbers.predict_log_proba(X[:1])
        logs = tb.estimate(tb.Tally.of(X, y)).log_posterior(X), mixed.model_.log_posterior(table)
        found = numbers.theta_, numbers.var_, *batches, mixed.predict_proba(table), *logs, left_out
        return [each.tobytes() for each in (*found, np.array(list(one.values())))]

    before = answers()
    for _ in range(200):
        tb.GaussianNB().fit(X[:20], y[:20]).predict_proba(X[:20])
    assert answers() == before
    large = rng.normal(size=(choice.LARGE // 50, 50))
    tb.GaussianNB().fit(large, np.arange(len(large)) % 3).predict_proba(large)
    choice.load_text()
    assert answers() == before


@pytest.mark.parametrize("error", [OSError("no shared object"), ImportError("no numba")])
def test_work_goes_on_where_numba_cannot_be_loaded(monkeypatch, error):
    monkeypatch.setattr(choice, "_loaded", {})

    def fail(name):
        raise error

    X, y = np.arange(30.0).reshape(10, 3), np.arange(10) % 2
    texts = {"t": ["a b", "b c"] * 5}
    expected = tb.Tally.of(X, y), tb.Tally.of(texts, y, columns={"t": tb.Words()})
    monkeypatch.setattr(choice, "import_module", fail)
    monkeypatch.setattr(choice, "LARGE", 0)
    monkeypatch.setattr(bags, "WORTH_LOADING", 0)
    with pytest.warns(tb.TallyBayesWarning, match=f"cannot be loaded .{error}"):
        assert tb.Tally.of(X, y) == expected[0]
    assert tb.Tally.of(texts, y, columns={"t": tb.Words()}) == expected[1]  # no other warning


def test_few_documents_do_not_wait_for_a_compiler(monkeypatch):
    kernels = SimpleNamespace(are_kept=lambda: False)
    monkeypatch.setattr(choice, "_loaded", {"compiled_text": kernels})
    monkeypatch.setattr(choice, "_text_is_ready", False)
    monkeypatch.setattr(choice, "WORTH_COMPILING", 1000)
    assert choice.load_text(999) is None
    assert not choice.text_is_loaded()
    assert choice.load_text(1000) is kernels
    assert choice.text_is_loaded()
    assert choice.load_text(1) is kernels
