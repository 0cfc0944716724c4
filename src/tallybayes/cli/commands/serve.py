"""`tallybayes serve`: models over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from msgspec import ValidationError, convert

from tallybayes.cli import options
from tallybayes.cli.console import Session
from tallybayes.cli.main import argument, command, option

LIMITS = (
    "How much a request may take, or all together: body, upload, memory (bytes), records, rows, "
    "columns, seconds, requests, waiting, connections."
)

KEEP = (
    "How models that learn are kept: snapshot_every, retain, refit_every, refit_rows (events), "
    "keep (snapshots)."
)


@command(
    """
    # every .tally in the folder is a model, at http://127.0.0.1:8765
    tallybayes serve models
    # for other machines, which need tokens
    tallybayes serve models --host 0.0.0.0 --workers 4 --token-file tokens.txt
    # ask for an answer
    curl http://127.0.0.1:8765/v1/models/loan/predict -d '{"records": [{"income": 120}]}'
""",
    argument("folder", click.Path(readable=False), "The folder of the models."),
    option("--host", "NAME", "The address to listen at.  [default: 127.0.0.1]"),
    option("--port", click.IntRange(0, 65535), "The port; 0 takes a free one.  [default: 8765]"),
    option("--workers", click.IntRange(1, 64), "How many processes.  [default: 1]"),
    option("--token-file", options.PLACE, "Who may do what: lines of a role and a token."),
    option("--store", "URL", "Where events are kept: a file, or a postgresql:// address."),
    option("--read-only", bool, "Learn nothing, change nothing."),
    option("--allow-host hosts", ["NAME"], "Another name by which the service may be called."),
    option("--allow-origin origins", ["ORIGIN"], "A site whose pages may call it: https://..."),
    option("--log", ("all", "errors", "none"), "Which requests are logged.  [default: all]"),
    option("--limit limits", ["NAME=NUMBER"], LIMITS),
    option("--keep live", ["NAME=NUMBER"], KEEP),
)
def serve(session: Session, folder: str, **stated: Any) -> None:
    """Answer over HTTP: score, learn, explain.

    Roles of tokens are score, learn and admin; each may do what those before it may. Without tokens
    only this machine can reach the service, and may do everything. Its log, a JSON object a line
    without any data, goes to standard error; /docs says all that can be asked for.
    """
    try:
        from tallybayes.live import LiveOptions
        from tallybayes.service import Limits, Settings, serve as run, tokens_in
    except ModuleNotFoundError as error:
        from tallybayes.errors import TallyBayesError

        raise TallyBayesError(
            f"the service needs {error.name}, which is not here: pip install 'tallybayes[serve]'"
        ) from None
    said = {name: value for name, value in stated.items() if value not in (None, ())}
    if "limits" in said:
        said["limits"] = Limits.of(options.pairs(said["limits"], "--limit"))
    if "live" in said:
        try:
            pairs = options.pairs(said["live"], "--keep")
            said["live"] = convert(pairs, LiveOptions, strict=False)
        except ValidationError as error:
            raise click.UsageError(f"--keep: {error}.") from None
    if path := said.pop("token_file", None):
        said["tokens"] = tokens_in(Path(path).read_text(encoding="utf-8").splitlines(), path)
    settings = Settings(folder, **said)
    run(settings, lambda url: session.say(f"{folder} is served at {url}, described at {url}/docs"))
