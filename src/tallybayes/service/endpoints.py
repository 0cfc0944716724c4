"""What can be asked for, path by path; what a function does is what the page says of it."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from uuid import uuid4

from msgspec import to_builtins
from starlette.responses import Response

import tallybayes
from tallybayes import workflows
from tallybayes.modelfile import Stored, dump_bytes
from tallybayes.rendering import Renderable
from tallybayes.service import answers, description, learning, messages as m, tensors
from tallybayes.service.application import BIG, Call, at, hearing, html
from tallybayes.service.faults import Fault
from tallybayes.service.settings import Role

MODEL, V2, VERSION = "/v1/models/{model}", "/v2/models/{model}", "/versions/{version}"
TALLY, HTML = "application/vnd.tallybayes.tally", "text/html"
FORMS = {
    HTML: "to_html",
    "text/markdown": "to_markdown",
    "text/plain": "to_text",
    "application/x-latex": "to_latex",
}


def shown(call: Call, result: Renderable) -> Response | dict[str, Any]:
    """Return a result in the form that the client accepts: JSON unless it names another."""
    accepts = [each.split(";")[0].strip() for each in (call.header(b"accept") or "").split(",")]
    for form in accepts:
        if form in FORMS:
            text = getattr(result, FORMS[form])()
            return html(text) if form == HTML else Response(text, media_type=form)
        if form in ("application/json", "*/*"):
            break
    return result.to_dict()


def _check_records(call: Call, records: list[m.Record]) -> None:
    limits = call.service.settings.limits
    if not records:
        raise Fault(400, "there are no records; send at least one")
    if len(records) > limits.records:
        raise Fault(413, f"send at most {limits.records:,} records at once, or a table of Arrow")
    if max(map(len, records)) > limits.columns:
        raise Fault(413, f"a record has more than {limits.columns:,} columns")


# ---- scoring


@at("POST", f"{MODEL}/predict", request=m.PredictRequest, answer=m.PredictAnswer)
async def predict(call: Call) -> Any:
    """Score records: the posterior of each class, and the class decided for."""
    records, model = call.body.records, call.model.fitted.model
    _check_records(call, records)
    ids = call.body.ids or ([uuid4().hex for _ in records] if call.body.remember else None)
    if ids is not None and len({*ids}) != len(records):
        raise Fault(400, f"there are {len({*ids})} different ids of {len(records)} records")
    with hearing() as heard:
        if len(records) <= answers.FEW and call.bytes <= BIG:
            probabilities, decisions = answers.of_records(model, records)
        else:
            probabilities, decisions = await call.service.in_thread(
                answers.of_records, model, records
            )
    if ids is not None:
        service, held = call.service, dict(zip(ids, records, strict=True))
        service.permit(call, Role.learn, True)
        await service.follower.hold(call.model, held, call.body.seconds)
    call.service.gauges.counted(call.name, "scored", len(records))
    return m.PredictAnswer(list(model.classes), probabilities, decisions, ids, heard)


@at("POST", f"{MODEL}/predict/arrow", request=bytes, query=m.PredictQuery, media=answers.ARROW)
def predict_table(call: Call) -> Response:
    """Score a table: an Arrow stream in, an Arrow stream with predictions out."""
    keep = [name for name in call.query.keep.split(",") if name]
    limits, stored = call.service.settings.limits, call.model.stored
    table = answers.of_arrow(stored, call.body, limits, call.query.proba, keep)
    return Response(table, media_type=answers.ARROW)


@at(
    "POST",
    f"{V2}/infer",
    f"{V2}{VERSION}/infer",
    request=m.InferRequest,
    answer=m.InferAnswer,
    raw=True,
)
async def infer(call: Call) -> Response:
    """Score tensors, as the Open Inference Protocol has it."""
    _check_version(call)
    request, behind = tensors.request_in(call.body, call.header(tensors.LENGTH.encode()))
    limits, fitted = call.service.settings.limits, call.model.fitted
    work = tensors.infer, call.name, fitted, request, behind, limits
    few = len(call.body) <= BIG // 4  # tensors take longer than records
    body, length = work[0](*work[1:]) if few else await call.service.in_thread(*work)
    if length is None:
        return Response(body, media_type="application/json")
    headers = {tensors.LENGTH: str(length)}
    return Response(body, headers=headers, media_type="application/octet-stream")


@at("POST", f"{MODEL}/explain", request=m.ExplainRequest, answer=dict)
def explain(call: Call) -> Any:
    """Show what each value of a record says for and against each class."""
    body, stored = call.body, call.model.stored
    return shown(
        call, workflows.explain(stored, body.record, body.show, one=body.one, other=body.against)
    )


@at("POST", f"{MODEL}/counterfactuals", request=m.CounterfactualsRequest, answer=dict)
def counterfactuals(call: Call) -> Any:
    """Find the smallest changes of a record that change the answer."""
    body = call.body
    found = workflows.explain(
        call.model.stored, body.record, "counterfactuals", to=body.to, keep=body.keep
    )
    return shown(call, found)


@at("POST", f"{MODEL}/sample", request=m.SampleRequest, answer=m.SampleAnswer)
def sample(call: Call) -> Response:
    """Draw whole plausible records."""
    body, out = call.body, BytesIO()
    if body.n > call.service.settings.limits.records:
        raise Fault(413, f"draw at most {call.service.settings.limits.records:,} records at once")
    workflows.sample(call.model.stored, body.n, out, given=body.given, seed=body.seed, to="jsonl")
    records = b",".join(out.getvalue().splitlines())
    return Response(b'{"records":[%s]}' % records, media_type="application/json")


# ---- models


@at("GET", "/v1/models", answer=m.ModelList)
def models(call: Call) -> m.ModelList:
    """List all models."""
    lines, shelf = [], call.service.shelf
    for name in shelf.names():
        try:
            stored = shelf.open(name).stored
        except (Fault, ValueError) as error:
            lines.append(m.ModelLine(name, error=str(error)))
            continue
        tally, changed = stored.fitted.tally, stored.provenance.changed
        n, rows = len(tally.schema.names), int(tally.rows.sum())
        lines.append(m.ModelLine(name, tally.schema.target, list(tally.classes), n, rows, changed))
    return m.ModelList(lines)


@at("GET", MODEL, answer=m.ModelAnswer)
def model(call: Call) -> m.ModelAnswer:
    """Say what a model predicts, from what, and where it comes from."""
    learnt = call.model.state
    stored = call.model.seed if learnt is None else learnt.export()
    fitted, tally = stored.fitted, stored.fitted.tally
    prior = fitted.model.prior.tolist() if tally.classes else []
    rows = dict(zip(tally.classes, tally.rows.tolist(), strict=True))
    classes = [
        m.ClassRows(label, rows.get(label, 0), p)
        for label, p in zip(fitted.classes, prior, strict=True)
    ]
    columns = [
        m.ColumnLine(str(name), str(kind), str(fitted.recipe.family_of(tally.schema, name)), reason)
        for name, kind, reason in tally.schema
    ]
    provenance, rows_now = to_builtins(stored.provenance), int(tally.rows.sum())
    state = None if learnt is None else learning.state_of(learnt)
    return m.ModelAnswer(
        call.name, tally.schema.target, rows_now, classes, columns, provenance, state
    )


@at("GET", f"{MODEL}/inspect", answer=dict, query=m.InspectQuery)
def inspect(call: Call) -> Any:
    """Show all that is in a model: priors, tables, moments and words, with the counts."""
    return shown(call, workflows.inspect(call.model.stored, words=call.query.words))


@at("GET", f"{MODEL}/report", query=m.ReportQuery, media=HTML)
def report(call: Call) -> Response:
    """Return the report on a model: one page with pictures that needs no network."""
    page = workflows.report(call.model.stored, title=call.query.title).page
    return html(page.html)


@at("GET", f"{MODEL}/payload", answer=dict, query=m.PayloadQuery)
def payload(call: Call) -> Any:
    """Return all that a page needs to compute posteriors by itself."""
    return call.model.fitted.model.payload(call.query.most_words)


@at("GET", f"{MODEL}/export", media=TALLY)
def export(call: Call) -> Response:
    """Return a model as it is now, as a .tally file."""
    name = {"content-disposition": f'attachment; filename="{call.name}.tally"'}
    return Response(dump_bytes(call.model.stored), headers=name, media_type=TALLY)


@at(
    "PUT",
    MODEL,
    role=Role.admin,
    request=bytes,
    answer=m.SavedAnswer,
    needs_model=False,
    changes=True,
)
def upload(call: Call) -> m.SavedAnswer:
    """Keep a .tally file as the model of this name.

    If there is another, it goes with all that it has learnt.
    """
    shelved, new = call.service.shelf.put(call.name, call.body)
    call.service.follower.forget_all(call.name, but=shelved.log)
    return m.SavedAnswer(shelved.name, _rows(shelved.stored), new)


@at("DELETE", MODEL, role=Role.admin, answer=m.SavedAnswer, needs_model=False, changes=True)
def remove(call: Call) -> m.SavedAnswer:
    """Delete a model, and all that it has learnt."""
    rows = call.service.shelf.remove(call.name)
    call.service.follower.forget_all(call.name)
    return m.SavedAnswer(call.name, rows, False)


def _rows(stored: Stored) -> int:
    return int(stored.fitted.tally.rows.sum())


# ---- the service itself


@at("GET", "/v2/health/live", role=Role.anyone, answer=m.ReadyAnswer)
async def live(call: Call) -> m.ReadyAnswer:
    """Tell that the process answers."""
    return m.ReadyAnswer(live=True)


@at("GET", "/v2/health/ready", role=Role.anyone, answer=m.ReadyAnswer)
async def ready(call: Call) -> m.ReadyAnswer:
    """Tell whether records are scored and events learnt, and if not, why."""
    follower = call.service.follower
    return m.ReadyAnswer(ready=True, learning=follower.why_not is None, reason=follower.reason)


@at("GET", "/v2", answer=m.ServerMetadata)
async def server(call: Call) -> m.ServerMetadata:
    """Describe the service, as the Open Inference Protocol has it."""
    return m.ServerMetadata("tallybayes", tallybayes.__version__, ["binary_tensor_data"])


def _check_version(call: Call) -> None:
    version = call.scope["path_params"].get("version", tensors.VERSION)
    if version != tensors.VERSION:
        raise Fault(
            404, f"there is no version {version[:20]!r}; models have one, {tensors.VERSION}"
        )


@at("GET", V2, f"{V2}{VERSION}", answer=m.ModelMetadata)
async def metadata(call: Call) -> m.ModelMetadata:
    """Describe a model, as the Open Inference Protocol has it."""
    _check_version(call)
    return tensors.metadata(call.name, call.model.fitted)


@at("GET", f"{V2}/ready", f"{V2}{VERSION}/ready", answer=m.ReadyAnswer)
async def model_ready(call: Call) -> m.ReadyAnswer:
    """Tell whether a model answers."""
    _check_version(call)
    return m.ReadyAnswer(ready=bool(call.model.fitted.model))


@at("POST", "/v2/repository/index", answer=list[m.IndexLine])
def index(call: Call) -> list[m.IndexLine]:
    """List all models, as clients of Triton ask for them."""
    lines = models(call).models
    states = {True: "READY", False: "UNAVAILABLE"}
    return [m.IndexLine(x.name, "1", states[x.error is None], x.error or "") for x in lines]


@at("GET", "/metrics", media="text/plain")
def gauges(call: Call) -> Response:
    """Return counters and gauges, as Prometheus reads them."""
    return call.service.gauges.response(call.service.shelf, call.service.follower)


@at("GET", "/openapi.json", role=Role.anyone, answer=dict)
async def openapi(call: Call) -> Any:
    """Return this description, as OpenAPI 3.1."""
    return Response(description.openapi_json(call.service.endpoints), media_type="application/json")


@at("GET", "/docs", "/", role=Role.anyone, media=HTML)
def page(call: Call) -> Response:
    """Return this description as a page that needs no network."""
    return html(description.page(call.service.endpoints))
