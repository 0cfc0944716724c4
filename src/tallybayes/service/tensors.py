"""The Open Inference Protocol, version 2: a tensor for each column in, two tensors out.

Tensors are JSON, or bytes behind it (the extension for binary tensors, which clients of Triton use
unless they are told otherwise). Missing are NaN, null, and text of no length.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tallybayes.errors import did_you_mean
from tallybayes.model import Fitted
from tallybayes.model.plans import column_types
from tallybayes.rendering import plain
from tallybayes.service import answers
from tallybayes.service.faults import Fault
from tallybayes.service.messages import InferAnswer, InferRequest, ModelMetadata, Tensor, TensorLine
from tallybayes.service.settings import Limits

PLATFORM, VERSION = "tallybayes", "1"
PREDICTION, PROBABILITIES = "prediction", "probabilities"
LENGTH = "inference-header-content-length"
NUMBERS = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32,
    "UINT64": np.uint64, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32,
    "INT64": np.int64, "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
OF_TYPES = {"float": "FP64", "integer": "INT64", "boolean": "BOOL"}
OF_LABELS = {bool: "BOOL", int: "INT64", float: "FP64", str: "BYTES"}


def metadata(name: str, fitted: Fitted) -> ModelMetadata:
    """Describe the inputs and outputs of a model."""
    types, schema, classes = column_types(fitted.tally), fitted.tally.schema, fitted.classes
    named = [(str(each), OF_TYPES.get(types[each], "BYTES")) for each in schema.inputs]
    inputs = [TensorLine(each, datatype, [-1]) for each, datatype in named]
    outputs = [
        TensorLine(PREDICTION, OF_LABELS[type(classes[0])], [-1]),
        TensorLine(PROBABILITIES, "FP64", [-1, len(classes)]),
    ]
    said = {"classes": list(classes), "target": plain(schema.target)}
    return ModelMetadata(name, [VERSION], PLATFORM, inputs, outputs, said)


def request_in(body: bytes, header: str | None) -> tuple[InferRequest, memoryview]:
    """Return a request and the bytes behind it; the `header` says how long its JSON is."""
    length = len(body)
    if header is not None:
        if not header.isdecimal() or not int(header) <= length:
            raise Fault(400, f"{LENGTH} is {header[:40]!r}; the body has {length} bytes")
        length = int(header)
    return _decoder.decode(body[:length]), memoryview(body)[length:]


_decoder = msgspec.json.Decoder(InferRequest)


def columns_in(request: InferRequest, behind: memoryview, limits: Limits) -> dict[str, Any]:
    """Return the values of each column: arrays, and lists of text or of what may be missing."""
    columns: dict[str, Any] = {}
    for tensor in request.inputs:
        what = f"input {tensor.name!r}"
        n, *others = tensor.shape or [0]
        if math.prod(others) != 1 or len(others) > 1:
            raise Fault(400, f"{what} has the shape {tensor.shape}; a column is [n] or [n, 1]")
        if n > limits.rows:
            raise Fault(413, f"{what} has {n:,} values; send at most {limits.rows:,} at once")
        if tensor.name in columns:
            raise Fault(400, f"{what} is there twice")
        if tensor.datatype != "BYTES" and tensor.datatype not in NUMBERS:
            known = did_you_mean(tensor.datatype, ["BYTES", *NUMBERS])
            raise Fault(400, f"{what} is of the type {tensor.datatype!r}; {known}")
        size = tensor.parameters.get("binary_data_size")
        if size is None:
            values = _of_json(tensor, n)
        else:
            if not isinstance(size, int) or not 0 <= size <= len(behind):
                raise Fault(400, f"{what}: binary_data_size is {size!r}, with {len(behind)} left")
            values, behind = _of_bytes(tensor, n, behind[:size]), behind[size:]
        columns[tensor.name] = values
    if behind:
        raise Fault(400, f"{len(behind)} bytes are left behind the last tensor")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise Fault(400, f"the inputs have {sorted(lengths)} values; expected as many in each")
    return columns


def _of_json(tensor: Tensor, n: int) -> list[Any]:
    """Return the values of a tensor, which may be nested."""
    values = tensor.data or []
    if len(tensor.shape) > 1 and values and all(isinstance(row, list) for row in values):
        values = [value for row in values for value in row]
    if len(values) != n:
        raise Fault(400, f"input {tensor.name!r} has {len(values)} values; its shape says {n}")
    for value in values:
        if isinstance(value, list | dict):
            raise Fault(400, f"input {tensor.name!r} has {type(value).__name__}s among its values")
    return [None if value == "" else value for value in values]


def _of_bytes(tensor: Tensor, n: int, data: memoryview) -> Any:
    """Return the values of a tensor from its bytes."""
    what = f"input {tensor.name!r}"
    if tensor.datatype != "BYTES":
        dtype = np.dtype(NUMBERS[tensor.datatype]).newbyteorder("<")
        if len(data) != n * dtype.itemsize:
            expected = n * dtype.itemsize
            raise Fault(400, f"{what} has {len(data)} bytes; {n} of its type have {expected}")
        array = np.frombuffer(data, dtype)
        return array.astype(np.float64 if dtype.kind == "f" else dtype.newbyteorder("="))
    texts: list[str | None] = []
    place = 0
    for _ in range(n):
        if place + 4 > len(data):
            break
        (length,) = struct.unpack_from("<I", data, place)
        place += 4 + length
        if place > len(data):
            break
        texts.append(str(data[place - length : place], "utf-8") or None)
    if len(texts) != n or place != len(data):
        raise Fault(400, f"{what} does not hold the {n} texts that its shape says")
    return texts


def infer(
    name: str, fitted: Fitted, request: InferRequest, behind: memoryview, limits: Limits
) -> tuple[bytes, int | None]:
    """Answer a request: the body, and how long its JSON is if there are bytes behind it."""
    columns, model = columns_in(request, behind, limits), fitted.model
    n = len(next(iter(columns.values())))
    if n <= answers.FEW:
        lists = {k: v if isinstance(v, list) else v.tolist() for k, v in columns.items()}
        records = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
        probabilities, decisions = answers.of_records(model, records)
    else:
        probabilities, decisions = answers.of_columns(model, columns)
    binary = request.parameters.get("binary_data_output") is True
    wanted = {PREDICTION: binary, PROBABILITIES: binary}
    if request.outputs:
        known, wanted = tuple(wanted), {}
        for output in request.outputs:
            if output.name not in known:
                raise Fault(400, f"no output {output.name!r}; {did_you_mean(output.name, known)}")
            if output.parameters.get("classification"):
                raise Fault(400, f"no classification is made; {PROBABILITIES!r} has all classes")
            wanted[output.name] = bool(output.parameters.get("binary_data", binary))
    outputs, parts = [], []
    for output_name, as_bytes in wanted.items():
        if output_name == PREDICTION:
            datatype, shape = OF_LABELS[type(model.classes[0])], [n]
            data: Any = decisions
        else:
            datatype, shape = "FP64", [n, len(model.classes)]
            data = [p for row in probabilities for p in row]
        line: dict[str, Any] = {"name": output_name, "datatype": datatype, "shape": shape}
        if as_bytes:
            parts.append(_as_bytes(datatype, data))
            line["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            line["data"] = data
        outputs.append(line)
    said = {"classes": list(model.classes)}
    answer = msgspec.json.encode(InferAnswer(name, VERSION, outputs, request.id, said))
    return b"".join([answer, *parts]), len(answer) if parts else None


def _as_bytes(datatype: str, data: list[Any]) -> bytes:
    """Write values as the protocol has them."""
    if datatype != "BYTES":
        array: NDArray[Any] = np.array(data, np.dtype(NUMBERS[datatype]).newbyteorder("<"))
        return array.tobytes()
    texts = [text.encode() for text in data]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)
