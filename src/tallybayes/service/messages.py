"""What requests hold and what answers do, field by field: decoded, checked and described by it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Value = str | int | float | bool | None
Record = dict[str, Value]
Label = str | bool | int | float
Name = Annotated[str, Meta(min_length=1, max_length=180)]


class PredictRequest(Struct, forbid_unknown_fields=True):
    """Records to be scored: the value of each column; those that are not there are missing.

    With ids, or if they are to be remembered, the service keeps the records for so many seconds, so
    that their labels can be sent later by these ids.
    """

    records: list[Record]
    ids: list[Name] | None = None
    remember: bool = False
    seconds: Annotated[float, Meta(gt=0, le=31_536_000)] = 86_400.0


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
    live: StateAnswer | None = None


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


# learning


class LabelledEvent(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A record, an id that it alone has, and what was true of it, which may be in the record."""

    id: Name
    record: Record
    label: Label | None = None


class LearnRequest(Struct, forbid_unknown_fields=True):
    """Events that are learnt, or forgotten, once, however often they are sent."""

    events: list[LabelledEvent]


class LateLabel(Struct, forbid_unknown_fields=True):
    """What was true of a record, by the id of its prediction."""

    id: Name
    label: Label


class LabelsRequest(Struct, forbid_unknown_fields=True):
    """Labels of records that were scored before."""

    labels: list[LateLabel]


class EventAnswer(Struct, omit_defaults=True):
    """What became of an event: new, the same again, in conflict with another, or refused."""

    id: str
    outcome: Literal["new", "same", "conflict", "refused"]
    position: int = 0
    why: str = ""


class LearnAnswer(Struct):
    """What became of each event; all of them are in the store."""

    events: list[EventAnswer]


class RecipeRequest(Struct, forbid_unknown_fields=True):
    """How a challenger differs from the champion, or that it is estimated like another model.

    Families are written as on the command line, `categorical:alpha=0.5`.
    """

    alpha: Annotated[float, Meta(ge=0)] | None = None
    families: list[str] = []
    columns: dict[str, str] = {}
    prior: str | dict[str, float] | None = None
    calibrated: bool = True
    like: str | None = None


class PromoteRequest(Struct, forbid_unknown_fields=True):
    """The challenger that answers from now on."""

    name: Name


class RefitRequest(Struct, forbid_unknown_fields=True):
    """Which weights are fitted, if not as before, and on how many of the latest events."""

    how: Literal["temperature", "weights", "words", "evidence"] | None = None
    rows: Annotated[int, Meta(ge=1)] | None = None


class RefitAnswer(Struct, omit_defaults=True):
    """Whether weights are being fitted, or were last, and what went wrong if anything did."""

    running: bool
    error: str | None = None


class DecayRequest(Struct, forbid_unknown_fields=True):
    """After how many events, or seconds, a record counts half; null: it never fades."""

    half_life: Annotated[float, Meta(gt=0)] | None
    by: Literal["events", "seconds"] = "events"


class Scores(Struct):
    """Scores of events before they were learnt; log-loss is in nats."""

    rows: float | None
    log_loss: float | None
    accuracy: float | None
    calibration_error: float | None


class StandingLine(Struct):
    """How good a recipe was on all events, and on recent ones: 1,000 events ago count half."""

    name: str
    champion: bool
    total: Scores
    recent: Scores


class ScoresAnswer(Struct):
    """How good the champion and its challengers are."""

    champion: str
    recipes: list[StandingLine]


class AlarmLine(Struct):
    """A column whose recent events are unlike those before, or the loss, which has no column."""

    position: int
    column: str | None
    z: float


class DriftAnswer(Struct):
    """Alarms, which one window in a hundred raises without drift, and the z of the last window."""

    windows: int
    window: int
    alarms: list[AlarmLine]
    loss: float | None
    columns: dict[str, float]


class StateAnswer(Struct):
    """What a model has learnt."""

    position: int
    learnt: int
    forgotten: int
    champion: str
    challengers: list[str]
    half_life: float | None
    by: str


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
