"""Each door takes whatever comes: it is refused by our own error, or what comes of it is sound."""

import io
import json
import math
import warnings
from contextlib import suppress

import numpy as np
import pyarrow as pa

import tallybayes as tb
from fuzzing.mutation import fuzz, mutated
from modelfile.samples import NEW, TABLE, assert_same_stored, mixed, stored
from modelfile.test_hostile import (
    MANIFEST,
    TENSORS,
    TEXTS,
    WHOLE,
    changed,
    places_of,
    put_together,
    signed,
)
from tallybayes import workflows
from tallybayes.explanations import counterfactuals, explain
from tallybayes.model import Learner
from tallybayes.model.specification import ModelSpec
from tallybayes.modelfile import dump_bytes, load
from tallybayes.sources import ReadOptions, open_rows, text_blocks
from tallybayes.sources.arrow_files import plain_types
from tallybayes.sources.row_stream import map_rows

N = 24
ROWS = {
    "n": [f"{k * 1.25 - 7}" for k in range(N)],
    "c": ['said "no"', "a, b", "two\nlines", "ÄÖ ß €", "", "NA"] * 4,
    "w": [str(k % 3) for k in range(N)],
    "t": [f"2024-{k % 12 + 1:02}-{k + 1:02}T0{k % 9}:30:00Z" for k in range(N)],
    "b": ["true", "False", ""] * 8,
    "y": ["p", "q", "p"] * 8,
}


def csv_of(delimiter=",", end="\n", encoding="utf-8", decimal="."):
    lines = [delimiter.join(ROWS)]
    for k in range(N):
        cells = [column[k].replace(".", decimal) for column in ROWS.values()]
        lines.append(delimiter.join('"' + c.replace('"', '""') + '"' for c in cells))
    return end.join([*lines, ""]).encode(encoding)


CSV = [
    (csv_of(), ReadOptions(format="csv")),
    (csv_of(";", "\r\n", decimal=","), ReadOptions(format="csv", decimal=",")),
    (csv_of("\t", "\r"), ReadOptions(format="tsv", bad_rows="report")),
    (csv_of("|", encoding="utf-16"), ReadOptions(format="csv", bad_rows="skip")),
    (b"1,p\n2,q\n3,p\n", ReadOptions(format="csv", header=False)),
]  # fmt: skip
JSON = "\n".join(
    json.dumps(
        {
            "n": None if k % 7 == 3 else k * 1.25,
            "i": k % 4,
            "c": ["x", "ÄÖ ß €", 'said "no"', None][k % 4],
            "b": [True, False, None][k % 3],
            "t": f"2024-05-{k + 1:02}T10:00:00",
            "nested": {"a": [1, {"b": None}]},
            "y": "pqp"[k % 3],
        }
    )
    for k in range(N)
).encode()


def rows_of(data, options, types=None):
    """Return the rows of a file, those of CSV as text, or the error that refuses it."""
    try:
        rows = open_rows(io.BytesIO(data), options)
        if types is None:
            types = dict.fromkeys(rows.names, "text")
            types = types if rows.types_guessed else plain_types(rows.sample.schema)
        stream = map_rows(rows, types, lambda table: table, options)
        return [row for part in stream for row in part.value.to_pylist()]
    except tb.TallyBayesError as error:
        return error


def through_all(data, options, rng):
    """Train on what a file holds, predict it, write it, and read what was written."""
    spec = ModelSpec(plain=rng.random() < 0.8)
    target = rng.choice(["y"] * 8 + ["c", "n"])
    trained = workflows.train(io.BytesIO(data), target, spec, read=options)
    str(trained), json.dumps(trained.to_dict())
    assert_same_stored(load(dump_bytes(trained.stored)), trained.stored)
    posterior = trained.stored.fitted.model.posterior_of({})
    assert math.isclose(sum(posterior.values()), 1.0, rel_tol=1e-9)
    out, to = io.BytesIO(), rng.choice(["csv", "tsv", "jsonl"])
    done = workflows.predict(
        trained.stored, io.BytesIO(data), out, to=to, keep=None, proba=True, read=options
    )
    again = out.getvalue()
    if to == "jsonl":
        again = [json.loads(line) for line in again.splitlines()]
    else:
        again = rows_of(again, ReadOptions(format=to, missing=()))
    assert isinstance(again, list), f"{out.getvalue()[:300]} cannot be read: {again}"
    assert len(again) == done.rows, out.getvalue()[:300]


def files_fuzzed(corpus, tokens, monkeypatch, types=None):
    def try_one(rng):
        data, options = rng.choice(corpus)
        data = mutated(rng, data, tokens)
        monkeypatch.setattr(text_blocks, "BLOCK", 4 << 20)
        whole = rows_of(data, options, types)
        if rng.random() < 0.3:
            monkeypatch.setattr(text_blocks, "BLOCK", rng.choice([16, 64, 300]))
            parts = rows_of(data, options, types)
            if isinstance(whole, list) and isinstance(parts, list):
                assert parts == whole, "blocks change what is read"
        through_all(data, options, rng)

    fuzz(try_one)


def test_csv(monkeypatch):
    cells = [cell.encode() for column in ROWS.values() for cell in column[:3]]
    files_fuzzed(CSV, [b'"', b'"\n"', b",,", *cells], monkeypatch)


def test_json_lines(monkeypatch):
    tokens = [b'"n":', b'"y":"p"', b"}\n{", b"1e400", b"[1]", b'{"y":"q"}\n', b"\\u0000", b"-0.0"]
    corpus = [(JSON, ReadOptions(format="jsonl")), (JSON, ReadOptions("jsonl", bad_rows="skip"))]
    corpus.append((b"[" + b",".join(JSON.splitlines()) + b"]", ReadOptions(format="jsonl")))
    files_fuzzed(corpus, tokens, monkeypatch, {"n": "float", "i": "integer", "c": "text"})


ODD = [
    *(None, True, False, 0, -1, 1, 3, 2**31, 2**53 + 1, 2**63, 2**64, 10**400, 0.5, -0.0, 1e-320),
    *(1e100, 1e308, -1e308, math.inf, -math.inf, math.nan, "", "a", "yes", "NaN", "\x00", "\ud800"),
    *("x" * 5000, "buy a lottery", "Single", "2024-02-30", "2024-05-06T07:08:09Z", b"bytes", 1j),
    *([], [1], {}, {"a": 1}, (1, 2), {1, 2}, np.float32(1.5), np.int8(3), np.bool_(True)),
    *(np.array([1.0]), np.array(2.0), np.datetime64("2024-05-06"), np.datetime64("NaT"), range(3)),
    *(np.str_("Single"), np.float64("nan"), object, len, Ellipsis, np.timedelta64(5, "s")),
]


def sound(posterior):
    """Tell whether these are probabilities."""
    values = list(posterior.values())
    return all(0.0 <= p <= 1.0 for p in values) and math.isclose(sum(values), 1.0, rel_tol=1e-9)


def test_model_files():
    paths, names = [path for path in places_of(MANIFEST) if path], sorted(TENSORS)
    plain = [None, True, -1, 0, 1, 2**31, 2**62, 0.5, -0.0, 5e-324, 1e100, 1e308, -1e308, "", "x"]
    plain += [math.inf, -math.inf, math.nan, "a" * 5000, "\x00", "yes", "Single"]
    kinds = ["Gaussian", "Categorical", "Words", "Numeric", "Codes", "type", "income", [], {}, [1]]

    def try_one(rng):
        manifest, tensors, data = MANIFEST, dict(TENSORS), None
        if rng.random() < 0.2:
            data = mutated(rng, rng.choice([WHOLE, put_together(*TEXTS)])[:-32])
            data = signed(data)
        else:
            for _ in range(rng.choice([1, 1, 2, 3])):
                with suppress(LookupError, TypeError, ValueError):
                    value = rng.choice([*plain, *kinds, rng.randrange(-3, 12)])
                    if rng.random() < 0.5:
                        manifest = changed(rng.choice(paths), value, manifest)
                    else:
                        array = tensors[name := rng.choice(names)].copy()
                        with np.errstate(all="ignore"), suppress(ValueError, OverflowError):
                            array.flat[rng.randrange(array.size)] = value
                        tensors[name] = array
            data = put_together(manifest, tensors)
        found = load(data)
        assert_same_stored(load(dump_bytes(found)), found)
        warnings.simplefilter("ignore", RuntimeWarning)  # of parameters that are absurd
        model = found.fitted.model
        posterior = model.posterior(NEW)
        assert ((posterior >= 0.0) & (posterior <= 1.0)).all()
        record = {name: rng.choice(values) for name, values in NEW.items()}
        assert sound(model.posterior_of(record))
        use = rng.randrange(6)
        if use == 0:
            str(explain(found.fitted, record)), str(explain(found.fitted, record, "working"))
        elif use == 1:
            str(counterfactuals(found.fitted, record))
        elif use == 2:
            assert len(model.sample(3, seed=0)["mail"]) == 3
        elif use == 3:
            str(workflows.inspect(found))
        elif use == 4:
            json.dumps(model.payload())
        else:
            workflows.predict(found, pa.Table.from_pydict(NEW), io.BytesIO(), to="csv")

    fuzz(try_one)


TEXT = [
    "Buy a lottery, win £ 1,000!",
    "über lunch\tnow",
    "ΑΣ Σ. İstanbul",
    "a\u0301b don't",
    "😀 .",
]
LETTERS = [
    *"aZ9 .'-_\n\t\u0301\u200d\u202eΣİßé",
    "\ud800",
    "\x00",
    "😀",
    "https://x.y/z?q=1",
    "@a",
]


def document(rng):
    """Return a document of any kind."""
    text = rng.choice(TEXT)
    for _ in range(rng.choice([0, 1, 3, 20])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(LETTERS) * rng.choice([1, 1, 2, 50]) + text[at:]
    if rng.random() < 0.2:
        return mutated(rng, text.encode("utf-8", "surrogatepass"))
    return rng.choice([text] * 12 + [None, "", " "])


def test_texts():
    tb.TextNB()  # what it imports takes its time

    def try_one(rng):
        low = rng.choice([1, 1, 1, 2])
        tokens = rng.choice(["words", "words", "unicode", "whitespace", "characters"])
        said = {
            "ngrams": (low, low + rng.choice([0, 0, 1, 2])),
            "lowercase": rng.random() < 0.7,
            "min_df": rng.choice([1, 1, 2]),
            "event": rng.choice(
                ["multinomial", "multinomial", "bernoulli", "boolean", "complement"]
            ),
            "alpha": rng.choice([1.0, 1e-3, 0.0, 1e6]),
        }
        documents = [document(rng) for _ in range(rng.choice([2, 8, 20]))]
        labels = [rng.choice(["ham", "spam"]) for _ in documents]
        model = tb.TextNB(tokens=tokens, **said).fit(documents, labels)
        before = model.tally_.to_bytes()
        unseen = [document(rng) for _ in range(3)]
        proba = model.predict_proba([*documents, *unseen])
        assert np.allclose(proba.sum(axis=1), 1.0)
        alone = [model.predict_proba([each])[0] for each in documents[:3]]
        assert np.allclose(alone, proba[: len(alone)])
        model.partial_fit(unseen, [labels[0]] * 3).forget(unseen, [labels[0]] * 3)
        assert model.tally_.to_bytes() == before
        if len(set(labels)) > 1:
            held = model.cross_val(documents, labels, folds="loo")
            assert np.allclose(held.proba.sum(axis=1), 1.0)
        if isinstance(unseen[0], str):
            str(model.explain(unseen[0])), str(model.counterfactuals(unseen[0]))

    fuzz(try_one)


FITTED = stored(mixed()).fitted


def test_records():
    """A record, a table of one row, and a learner give the same answer, or each its refusal."""
    names = [*NEW, "cheat", "unknown", "", 0, None, ("a",)]

    def answer(ask):
        try:
            return ask()
        except tb.TallyBayesError:
            return None

    def try_one(rng):
        record = {name: rng.choice([*TABLE[name], *NEW[name]]) for name in NEW}
        for _ in range(rng.choice([1, 1, 2, 4])):
            record[rng.choice(names)] = rng.choice(ODD)
        if rng.random() < 0.1:
            record = rng.choice([[record], None, "a", 3, (1, 2), {**record}.items()])
        model = FITTED.model
        found = answer(lambda: model.posterior_of(record))
        assert found is None or sound(found)
        learner = Learner(FITTED)
        if isinstance(record, dict):
            scored = answer(lambda: learner.posterior_of(record))
            assert (scored is None) == (found is None), (found, scored)
            same = found is None or np.allclose([*found.values()], [*scored.values()])
            assert same, (found, scored)
            answer(lambda: str(explain(FITTED, record)))
            if rng.random() < 0.2:
                answer(lambda: str(explain(FITTED, record, "working")))
                answer(lambda: str(counterfactuals(FITTED, record)))
        label = rng.choice(["yes", "no", "no", "new", *ODD])
        tally = FITTED.tally.to_bytes()
        try:
            learner.learn(record, label, rng.choice([1, 0.5, 2]))
        except tb.TallyBayesError:
            assert learner.fitted.tally.to_bytes() == tally, "a refused record left a trace"
        else:
            after = answer(lambda: learner.posterior_of({}))
            assert after is not None, f"learnt {label!r} from {record!r}, which answers nothing now"
            assert sound(after)
            assert answer(lambda: learner.fitted.tally.to_bytes()) is not None

    fuzz(try_one)
