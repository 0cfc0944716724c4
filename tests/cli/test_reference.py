"""The command reference in the documentation is that of the commands."""

import re
from pathlib import Path

from tallybayes.cli.catalogue import SECTIONS
from tallybayes.cli.reference import reference
from tallybayes.families import FAMILIES
from tallybayes.model.specification import parse_family

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_up_to_date():
    shown = PAGE.read_text(encoding="utf-8")
    assert shown == reference(), "run: python -m tallybayes.cli.reference > docs/commands.md"


def test_the_page_does_not_depend_on_the_terminal(monkeypatch):
    before = reference()
    monkeypatch.setenv("COLUMNS", "40")
    assert reference() == before


def test_every_command_has_its_place():
    shown = reference()
    for entries in SECTIONS.values():
        for name in entries:
            assert f"\n### tallybayes {name}\n" in shown


def test_options_of_families_can_be_typed_as_they_are_shown():
    table = reference().split("## Families")[1].split("## Learn")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, flags=re.MULTILINE))
    assert list(rows) == sorted(FAMILIES)
    for name, options in rows.items():
        typed = [each for each in re.findall(r"`([^`]*)`", options) if "=" in each]
        stated, bare = (parse_family(each) for each in (f"{name}:{','.join(typed)}", name))
        for option in bare.__struct_fields__:
            meant = {"alpha": 1.0, "unseen": "ignore"}.get(option, getattr(bare, option))
            assert getattr(stated, option) == meant
