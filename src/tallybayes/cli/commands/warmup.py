"""`tallybayes warmup`: compile all kernels ahead of time."""

from __future__ import annotations

from tallybayes.cli.console import Session
from tallybayes.cli.main import command


@command("""
    # once after an installation, or while an image is built
    tallybayes warmup
    # in a script
    tallybayes warmup --quiet
""")
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
    said = f"{loops} compiled loops are ready after {seconds:.1f} s."
    session.report(said, steps=done, loops=loops, seconds=seconds)
