"""What requests hold and what answers do, field by field: decoded, checked and described by it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Value = str | int | float | bool | None
Record = dict[str, Value]
Label = str | bool | int | float
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class PredictRequest(Struct, forbid_unknown_fields=True, rename={"for_label": "remember"}):
    """Records to be scored: the value of each column; those that are not there are missing.

    With `ids`, or `remember`, the service keeps the records for a while, so that their labels can
    be sent later by these ids.
    """

    records: list[Record]
    ids: list[Name] | None = None
    for_label: bool = False


class PredictAnswer(Struct, omit_defaults=True):
    """The posterior of each record, in the order of the classes, and the class decided for."""

    classes: list[Label]
    probabilities: list[list[float]]
    predictions: list[Label]
    ids: list[str] | None = None
    warnings: list[str] = []


class ExplainRequest(Struct, forbid_unknown_fields=True, rename={"one": "for"}):
    """A record, and what is to be shown of its answer."""

    record: Record
    show: Literal["evidence", "parts", "working"] = "evidence"
    one: Label | None = None
    against: Label | None = None


class CounterfactualsRequest(Struct, forbid_unknown_fields=True):
    """A record, the answer that changes of it shall lead to, and columns that stay."""

    record: Record
    to: Label | None = None
    keep: list[str] = []


class SampleRequest(Struct, forbid_unknown_fields=True):
    """How many records to draw, with which values given; a seed makes chance repeatable."""

    n: Annotated[int, Meta(ge=0)] = 10
    given: Record = {}
    seed: Annotated[int, Meta(ge=0)] | None = None


class SampleAnswer(Struct):
    """Plausible records, each with its class."""

    records: list[Record]


class ModelLine(Struct, omit_defaults=True):
    """A model among others; of one that cannot be read, why."""

    name: str
    target: str | None = None
    classes: list[Label] = []
    columns: int = 0
    rows: int = 0
    changed: str | None = None
    error: str | None = None


class ModelList(Struct):
    """All models of the service."""

    models: list[ModelLine]


class ClassRows(Struct):
    """A class, how many rows of it were counted, and its prior probability."""

    label: Label
    rows: int
    prior: float


class ColumnLine(Struct):
    """A column: what is counted of it, why, and what its distribution is estimated with."""

    name: str
    kind: str
    family: str
    reason: str


class ModelAnswer(Struct):
    """What a model predicts, from what, and where it comes from."""

    name: str
    target: str
    rows: int
    classes: list[ClassRows]
    columns: list[ColumnLine]
    provenance: dict[str, Any]
    live: dict[str, Any] | None = None


class SavedAnswer(Struct):
    """A model that was stored under a name, or taken away."""

    name: str
    rows: int
    created: bool


class ReportQuery(Struct, forbid_unknown_fields=True):
    """The title of a report."""

    title: str | None = None


class PayloadQuery(Struct, forbid_unknown_fields=True):
    """How many words of a text are sent."""

    most_words: Annotated[int, Meta(ge=1, le=1_000_000)] = 5_000


class InspectQuery(Struct, forbid_unknown_fields=True):
    """How many words of a text are shown."""

    words: Annotated[int, Meta(ge=1, le=1_000_000)] = 10


class PredictQuery(Struct, forbid_unknown_fields=True):
    """Of an Arrow table: whether all classes are written, and columns, between commas, to keep."""

    proba: bool = False
    keep: str = ""


# the Open Inference Protocol, version 2


class Tensor(Struct):
    """An array: its values are in `data`, or behind the JSON if `parameters` say how many bytes."""

    name: str
    shape: list[Annotated[int, Meta(ge=0)]]
    datatype: str
    data: list[Any] | None = None
    parameters: dict[str, Any] = {}


class WantedTensor(Struct):
    """An output that is asked for."""

    name: str
    parameters: dict[str, Any] = {}


class InferRequest(Struct):
    """A tensor for each column, of the same length; columns that are not there are missing."""

    inputs: list[Tensor]
    id: str | None = None
    outputs: list[WantedTensor] | None = None
    parameters: dict[str, Any] = {}


class InferAnswer(Struct, omit_defaults=True):
    """The tensors that were asked for."""

    model_name: str
    model_version: str
    outputs: list[dict[str, Any]]
    id: str | None = None
    parameters: dict[str, Any] = {}


class TensorLine(Struct):
    """What an input or an output is."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(Struct):
    """A model, as the Open Inference Protocol describes it."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorLine]
    outputs: list[TensorLine]
    parameters: dict[str, Any]


class ServerMetadata(Struct):
    """The service, as the Open Inference Protocol describes it."""

    name: str
    version: str
    extensions: list[str]


class IndexLine(Struct):
    """A model in the index of the Open Inference Protocol."""

    name: str
    version: str
    state: str
    reason: str = ""


class ReadyAnswer(Struct, omit_defaults=True):
    """Whether records are scored, whether events are learnt, and why not."""

    live: bool | None = None
    ready: bool | None = None
    learning: bool | None = None
    reason: str | None = None
