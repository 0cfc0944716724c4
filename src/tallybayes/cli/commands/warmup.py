"""`tallybayes warmup`: compile all kernels ahead of time."""

from __future__ import annotations

import click

from tallybayes.cli.command import command
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options


@command(
    ("once after an installation, or while an image is built", "tallybayes warmup"),
    ("in a script", "tallybayes warmup --quiet"),
)
@output_options
@click.pass_obj
def warmup(session: Session) -> None:
    """Compile all kernels ahead of time.

    Loops over millions of rows are compiled when they are first needed, once on a machine, which
    takes a minute or two. This does it now. Small files never need it.
    """
    from tallybayes.workflows.warmup import warm_up

    done = []
    for step in warm_up():
        done.append(step)
        session.say(f"{step.what}: {step.loops} loops in {step.seconds:.1f} s")
    loops, seconds = sum(each.loops for each in done), sum(each.seconds for each in done)
    facts = {"steps": done, "loops": loops, "seconds": seconds}
    session.report(f"{loops} compiled loops are ready after {seconds:.1f} s.", facts)
