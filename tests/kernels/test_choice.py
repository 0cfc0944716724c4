"""Small inputs never load a compiler, and a first compilation is announced on a terminal."""

import io

import pytest

from tallybayes.kernels import choice, plain


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def unloaded(monkeypatch):
    monkeypatch.setattr(choice, "_compiled", None)
    monkeypatch.setattr(choice, "_text", None)
    monkeypatch.setattr(choice, "_warm", set())
    monkeypatch.setattr(choice, "_calls", {})


@pytest.mark.usefixtures("unloaded")
def test_small_inputs_use_the_plain_kernels_until_a_large_one_comes():
    assert choice.loops_for(choice.WORTH_LOADING - 1) is plain
    assert not choice.is_loaded()
    assert choice.loops_for(choice.WORTH_LOADING) is not plain
    assert choice.loops_for(choice.WORTH_CALLING) is not plain
    assert choice.loops_for(choice.WORTH_CALLING - 1) is plain


@pytest.mark.usefixtures("unloaded")
def test_small_blocks_of_a_large_table_use_the_compiled_kernels():
    choice.expect(choice.WORTH_LOADING)
    assert choice.loops_for(choice.WORTH_CALLING) is not plain


@pytest.mark.usefixtures("unloaded")
def test_a_kernel_that_was_compiled_for_a_type_is_used_for_a_single_cell_of_it():
    assert choice.loops_for(1, "a kernel", "float64") is plain
    assert choice.loops_for(choice.WORTH_LOADING, "a kernel", "float64") is not plain
    assert choice.loops_for(1, "a kernel", "float64") is not plain
    assert choice.loops_for(1, "a kernel", "float32") is plain
    assert choice.loops_for(1, "another kernel", "float64") is plain


@pytest.mark.usefixtures("unloaded")
def test_a_kernel_that_is_called_often_is_compiled_once_others_are():
    for _ in range(2 * choice.OFTEN):
        assert choice.loops_for(1, "a kernel") is plain
    choice.load_compiled()
    found = [choice.loops_for(1, "a kernel") is plain for _ in range(2 * choice.OFTEN)]
    assert found == [True] * choice.OFTEN + [False] * choice.OFTEN


@pytest.mark.usefixtures("unloaded")
def test_kernels_for_text_are_announced_too(monkeypatch):
    choice.load_compiled()
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(choice, "_is_cached", lambda _: False)
    choice.load_text()
    assert "compiling kernels" in stderr.getvalue()


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize(
    ("stream", "cached", "said"),
    [(Terminal, False, True), (Terminal, True, False), (io.StringIO, False, False)],
)
def test_a_first_compilation_is_announced_on_a_terminal(monkeypatch, stream, cached, said):
    stderr = stream()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(choice, "_is_cached", lambda _: cached)
    choice.load_compiled()
    assert ("compiling kernels" in stderr.getvalue()) == said
