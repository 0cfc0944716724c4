"""What models that learn can be asked: events, labels, recipes that compete, drift, a stream."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response, StreamingResponse

from tallybayes.live import Answered, LiveState, RunningScores, Standing
from tallybayes.model import Fitted, Recipe
from tallybayes.model.recipe import family_for
from tallybayes.model.specification import label_of, parse_column, parse_family
from tallybayes.priors import prior_of
from tallybayes.service import messages as m
from tallybayes.service.application import Call, at
from tallybayes.service.faults import Fault, busy
from tallybayes.service.settings import Role
from tallybayes.service.shelf import Shelved

MODEL = "/v1/models/{model}"
STREAM, SQLITE = "text/event-stream", "application/vnd.sqlite3"
REST = 15.0  # seconds after which a stream shows that it is there
MOST_LISTENERS = 64
LEARN: dict[str, Any] = {"role": Role.learn, "changes": True}
ADMIN: dict[str, Any] = {"role": Role.admin, "changes": True}


# ---- events


@at("POST", f"{MODEL}/learn", request=m.LearnRequest, answer=m.LearnAnswer, **LEARN)
async def learn(call: Call) -> m.LearnAnswer:
    """Learn labelled records, each once, however often it is sent.

    All that is answered is on the disk. An id that came before with another content is a conflict
    (409), a record that cannot be counted is refused (422); the other events are learnt all the
    same, and may be sent again.
    """
    return await _tell(call, "learn", call.body.events)


@at("POST", f"{MODEL}/forget", request=m.LearnRequest, answer=m.LearnAnswer, **LEARN)
async def forget(call: Call) -> m.LearnAnswer:
    """Take labelled records away, as if they had never been learnt.

    They are best forgotten by the ids under which they were learnt. What was never counted is
    refused.
    """
    return await _tell(call, "forget", call.body.events)


@at("POST", f"{MODEL}/labels", request=m.LabelsRequest, answer=m.LearnAnswer, **LEARN)
async def labels(call: Call) -> m.LearnAnswer:
    """Learn records that were scored before, by the ids of their predictions."""
    return await _tell(call, "label", call.body.labels)


async def _tell(call: Call, what: str, events: Sequence[Any]) -> m.LearnAnswer:
    limits = call.service.settings.limits
    if not events:
        raise Fault(400, "there are no events; send at least one")
    if len(events) > limits.records:
        raise Fault(413, f"send at most {limits.records:,} events at once")
    told = [{k: v for k, v in structs.asdict(event).items() if v is not None} for event in events]
    answers = await call.service.follower.tell(call.model, what, told)
    new = sum(answer.outcome == "new" for answer in answers)
    call.service.gauges.counted(call.name, what, new)
    shown = [m.EventAnswer(a.id, a.outcome, a.position, a.why) for a in answers]
    for outcome, status in (("conflict", 409), ("refused", 422)):
        bad = [k for k, answer in enumerate(answers) if answer.outcome == outcome]
        if bad:
            raise _fault(status, answers, bad, shown)
    return m.LearnAnswer(shown)


def _fault(status: int, answers: list[Answered], bad: list[int], shown: list[Any]) -> Fault:
    """Say which events were not learnt, and that the others were."""
    first, others = answers[bad[0]], f" {len(bad) - 1} more are like it." if len(bad) > 1 else ""
    fault = Fault(status, f"event {first.id!r}: {first.why}.{others} The others are in the store")
    fault.records, fault.events = bad, [msgspec.to_builtins(each) for each in shown]
    return fault


# ---- recipes


def _learnt(call: Call) -> LiveState:
    """Return what a model has learnt, to be looked at; one that never learnt has nothing."""
    if call.model.state is None:
        raise Fault(
            404, f"the model {call.name!r} has not learnt yet; send it events", "not_learning"
        )
    return call.model.state


def _done(call: Call, answer: Answered) -> m.EventAnswer:
    call.service.follower.follow()
    return m.EventAnswer(answer.id, answer.outcome, answer.position, answer.why)


@at("GET", f"{MODEL}/scores", answer=m.ScoresAnswer)
async def scores(call: Call) -> m.ScoresAnswer:
    """Say how good the model and its challengers were on events before they were learnt."""
    state = _learnt(call)
    lines = []
    for name in state.recipes:
        standing = state.standings.get(name, Standing())
        scored = _scores(standing.total), _scores(standing.recent)
        lines.append(m.StandingLine(name, name == state.champion, *scored))
    return m.ScoresAnswer(state.champion, lines)


def _scores(scores: RunningScores) -> m.Scores:
    return m.Scores(*(None if math.isnan(x) else x for x in scores))


@at("PUT", f"{MODEL}/challengers/{{name}}", request=m.RecipeRequest, answer=m.EventAnswer, **ADMIN)
def challenge(call: Call) -> m.EventAnswer:
    """Let another recipe score every event beside the champion, on the same tally."""
    live = call.service.follower.learner(call.model)
    like: Shelved | None = call.body.like and call.service.shelf.open(call.body.like)
    recipe = like.fitted.recipe if like else recipe_of(live.fitted, call.body)
    return _done(call, live.challenge(call.scope["path_params"]["name"], recipe))


@at("DELETE", f"{MODEL}/challengers/{{name}}", answer=m.EventAnswer, **ADMIN)
def withdraw(call: Call) -> m.EventAnswer:
    """Take a challenger away."""
    live = call.service.follower.learner(call.model)
    return _done(call, live.withdraw(call.scope["path_params"]["name"]))


@at("POST", f"{MODEL}/promote", request=m.PromoteRequest, answer=m.EventAnswer, **ADMIN)
def promote(call: Call) -> m.EventAnswer:
    """Let a challenger answer from now on, and the champion challenge it."""
    live = call.service.follower.learner(call.model)
    return _done(call, live.promote(call.body.name))


def recipe_of(fitted: Fitted, asked: m.RecipeRequest) -> Recipe:
    """Return the recipe of a model with what is asked to differ.

    Examples
    --------
    >>> from tallybayes import Tally
    >>> fitted = Fitted(Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"]))
    >>> recipe_of(fitted, m.RecipeRequest(alpha=0.5, prior="uniform")).families
    (Categorical(alpha=0.5),)
    """
    recipe, schema = fitted.recipe, fitted.tally.schema
    stated = [parse_family(text) for text in asked.families]
    kinds = dict.fromkeys(group.kind for group in schema.groups)
    families = list(dict.fromkeys(family_for(kind, [*stated, *recipe.families]) for kind in kinds))
    columns = dict(recipe.columns)
    columns |= dict(parse_column(f"{name}={text}") for name, text in asked.columns.items())
    if asked.alpha is not None:
        families = [_smoothed(family, asked.alpha) for family in families]
        columns = {name: _smoothed(family, asked.alpha) for name, family in columns.items()}
    prior: Any = asked.prior
    if isinstance(prior, dict):
        prior = {label_of(label, fitted.classes): p for label, p in prior.items()}
    return replace(
        recipe,
        families=tuple(families),
        columns=columns,
        prior=recipe.prior if prior is None else prior_of(prior),
        calibration=recipe.calibration if asked.calibrated else None,
    )


def _smoothed(family: Any, alpha: float) -> Any:
    return structs.replace(family, alpha=alpha) if hasattr(family, "alpha") else family


_refits: dict[str, Future[Answered]] = {}


@at("POST", f"{MODEL}/refit", request=m.RefitRequest, answer=m.RefitAnswer, **ADMIN)
def refit(call: Call) -> m.RefitAnswer:
    """Begin to fit the weights anew on the latest events, while the model goes on scoring."""
    live, running = call.service.follower.learner(call.model), _refits.get(call.model.log)
    if running is None or running.done():
        _refits[call.model.log] = live.refit_in_background(how=call.body.how, rows=call.body.rows)
    return _refitting(call)


@at("GET", f"{MODEL}/refit", answer=m.RefitAnswer)
def refitting(call: Call) -> m.RefitAnswer:
    """Tell whether this process fits weights, and how that ended."""
    return _refitting(call)


def _refitting(call: Call) -> m.RefitAnswer:
    future = _refits.get(call.model.log)
    if future is None or not future.done():
        return m.RefitAnswer(future is not None)
    if error := future.exception():
        return m.RefitAnswer(False, str(error))
    state = call.model.state
    return m.RefitAnswer(state is None or state.position < future.result().position)


@at("PUT", f"{MODEL}/decay", request=m.DecayRequest, answer=m.EventAnswer, **ADMIN)
def decay(call: Call) -> m.EventAnswer:
    """Let records fade: each counts half after so many events, or seconds."""
    live = call.service.follower.learner(call.model)
    return _done(call, live.set_decay(call.body.half_life, call.body.by))


@at("GET", f"{MODEL}/drift", answer=m.DriftAnswer)
async def drift(call: Call) -> m.DriftAnswer:
    """Say which columns, or the loss, are lately unlike before."""
    state = _learnt(call).drift
    latest = dict(state.latest)
    loss = latest.pop("", None)
    alarms = [m.AlarmLine(a.position, a.column or None, a.z) for a in state.alarms]
    return m.DriftAnswer(state.windows, state.n, alarms, loss, latest)


# ---- following


def state_of(state: LiveState) -> m.StateAnswer:
    """Say what a model has learnt."""
    others, fading = sorted(state.challengers), state.decay
    return m.StateAnswer(
        state.position,
        state.learnt,
        state.forgotten,
        state.champion,
        others,
        fading.half_life,
        fading.by,
    )


@at("GET", f"{MODEL}/events", media=STREAM)
async def events(call: Call) -> Response:
    """Stream what is learnt, as it is learnt: an event for each change, without any data.

    Each has the position in the log as its id, and what was learnt by then, with the rows of each
    class.
    """
    news = call.service.follower.news
    if len(news) >= MOST_LISTENERS:
        raise busy()
    return StreamingResponse(_stream(call, news), media_type=STREAM)


async def _stream(call: Call, news: set[asyncio.Event]) -> AsyncIterator[bytes]:
    last, event, shelf = -1, asyncio.Event(), call.service.shelf
    news.add(event)
    try:
        while (model := shelf.at_hand(call.name)) is not None:
            event.clear()
            state, tally = model.state, model.fitted.tally
            position = 0 if state is None else state.position
            if position != last:
                last = position
                said: dict[str, Any] = {"position": position, "learnt": 0, "forgotten": 0}
                if state is not None:
                    said, tally = structs.asdict(state_of(state)), state.fitted.tally
                pairs = zip(tally.classes, tally.rows.tolist(), strict=True)
                said["classes"] = [{"label": label, "rows": rows} for label, rows in pairs]
                yield b"id: %d\nevent: learnt\ndata: %b\n\n" % (position, msgspec.json.encode(said))
            try:
                async with asyncio.timeout(REST):
                    await event.wait()
            except TimeoutError:
                yield b": nothing new\n\n"
    finally:
        news.discard(event)


# ---- keeping


@at("POST", f"{MODEL}/snapshot", answer=m.StateAnswer, **ADMIN)
def snapshot(call: Call) -> m.StateAnswer:
    """Write a snapshot now, from which the next start goes on."""
    live = call.service.follower.learner(call.model)
    live.snapshot()
    return state_of(live.state)


_copying = asyncio.Semaphore()


@at("GET", "/v1/backup", media=SQLITE, role=Role.admin, hasty=False)
async def backup(call: Call) -> Response:
    """Return a copy of the store as it is at one moment, as a file of SQLite, while it is used."""
    if _copying.locked():  # a copy takes a disk for as long as it takes
        raise busy()
    async with _copying:
        store = await call.service.follower.in_thread(call.service.follower.open)
        if store is None:
            raise Fault(404, "there is no store: nothing was learnt yet")
        folder = tempfile.TemporaryDirectory(prefix="tallybayes-")
        path = Path(folder.name) / "events.db"
        try:
            await asyncio.to_thread(store.backup, path)
        except BaseException:
            folder.cleanup()
            raise
    done = BackgroundTask(folder.cleanup)
    return FileResponse(path, media_type=SQLITE, filename=path.name, background=done)
