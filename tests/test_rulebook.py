"""The rules as data: the generated files are in step, and every rule is documented in all the places a reader looks."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tflint_graph import rulebook
from tflint_graph.findings import FileError, Severity
from tflint_graph.link.model import Context
from tflint_graph.rule_meta import TRACED, Rule
from tflint_graph.rulebook import RuleFileError, read_entry

ROOT = Path(__file__).resolve().parent.parent
BOOK = rulebook.rulebook()
SECTIONS = ["What it does", "Why it is a problem", "Example", "Use instead", "Fix safety", "References"]
REGENERATE = "run `python -m tflint_graph.rulebook`"


def test_generated_files_are_in_step() -> None:
    entries = rulebook.read_all(ROOT / "rules")
    assert (ROOT / "rules" / "table.json").read_text(encoding="utf-8") == rulebook.table_json(entries), REGENERATE
    assert (ROOT / "rules" / "README.md").read_text(encoding="utf-8") == rulebook.rules_markdown(entries), REGENERATE


def test_the_table_holds_all_of_the_metadata() -> None:
    entries = rulebook.read_all(ROOT / "rules")
    rows = json.loads((ROOT / "rules" / "table.json").read_text(encoding="utf-8"))["rules"]
    assert [rulebook.from_row(row) for row in rows] == entries


@pytest.mark.parametrize("code", BOOK)
def test_every_rule_has_a_complete_page(code: str) -> None:
    page = rulebook.page(code)
    assert re.findall(r"^## (.*)$", page.markdown(), re.MULTILINE) == SECTIONS
    assert page.entry.summary.endswith("."), "the first line of the docstring is a sentence: it stands in the table of rules"
    for example in (page.bad, page.good):
        ast.parse(example)


@pytest.mark.parametrize("code", BOOK)
def test_every_rule_is_in_the_changelog_and_has_fixtures(code: str) -> None:
    assert code in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert list((ROOT / "fixtures" / code).glob("*.py")), f"fixtures/{code} holds no program"


def test_the_changelog_names_no_other_rules() -> None:
    assert set(re.findall(r"TFG\d{3}", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))) <= set(BOOK)


def test_fixtures_belong_to_rules() -> None:
    folders = {path.name for path in (ROOT / "fixtures").iterdir() if re.fullmatch(r"TFG\d{3}", path.name)}
    assert folders <= set(BOOK)


def test_names_and_codes_are_unique_and_well_formed() -> None:
    names = [entry.rule.name for entry in BOOK.values()]
    assert len(set(names)) == len(names)
    for entry in BOOK.values():
        assert re.fullmatch(r"TFG[1-5]\d\d", entry.rule.code)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.rule.name)
        assert entry.module == f"{entry.rule.family}.{entry.rule.name.replace('-', '_')}", "a rule's file is named after the rule"
        assert all(re.fullmatch(r"TFG[1-5]\d\d", code) for code in entry.rule.supersedes)  # of a later release, perhaps


@pytest.mark.parametrize("code", BOOK)
def test_triggers_are_what_the_index_records(code: str) -> None:
    assert [trigger for trigger in BOOK[code].rule.triggers if not rulebook.is_trigger(trigger)] == []


def test_every_rule_loads_and_says_what_it_wants() -> None:
    checks = rulebook.load_checks(BOOK)
    assert [check.rule for check in checks] == [entry.rule for entry in BOOK.values()]
    assert all(check.nodes for check in checks)


def test_reading_rules_imports_neither_libcst_nor_tensorflow() -> None:
    program = (
        "import sys\n"
        "from tflint_graph import rulebook\n"
        "for code in rulebook.rulebook():\n"
        "    rulebook.page(code).markdown()\n"
        "assert not {'libcst', 'tensorflow', 'keras', 'rich'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


RULE_FILE = '''\
"""What it finds.

## What it does

Finds it.
"""
from tflint_graph.rule_meta import CONVERTED, TRACED_ONLY, Rule
from tflint_graph.findings import Severity

LOOPS = frozenset({"For", "While"})
LIMIT = int("3")
RULE = Rule("TFG999", "an-example", Severity.INFO, since="9.0", contexts=CONVERTED | TRACED_ONLY, triggers=LOOPS | {"call:append"}, default=False)
'''


def write(folder: Path, text: str) -> Path:
    path = folder / "usage" / "an_example.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def test_metadata_is_read_without_importing(tmp_path: Path) -> None:
    entry = read_entry(write(tmp_path, RULE_FILE))
    assert entry == rulebook.RuleEntry(
        Rule("TFG999", "an-example", Severity.INFO, "9.0", TRACED, frozenset({"For", "While", "call:append"}), default=False),
        "usage.an_example",
        "What it finds.",
    )
    assert Context.EAGER not in entry.rule.contexts


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"""What it finds.', 'x = """', "no docstring"),
        ("RULE =", "RULES =", "no `RULE = Rule"),
        ("LOOPS |", "make() |", "must be made of literals, not `make\\(\\)`"),
        ("since=", "sinse=", "unexpected keyword argument"),
        ('"call:append"', '"append"', "the trigger `append` is no class of the module `ast`"),
        ('"call:append"', '"If_"', "the trigger `If_`"),
        ('"call:append"', '"parse"', "the trigger `parse`"),
        ('"call:append"', '"call:list.append"', "the trigger `call:list.append`"),
        ('"call:append"', '"names:x"', "the trigger `names:x`"),
    ],
)
def test_a_file_that_is_no_rule_is_an_error(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = write(tmp_path, RULE_FILE.replace(old, new))
    with pytest.raises(RuleFileError, match=reason):
        read_entry(path)


def test_a_code_used_twice_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, RULE_FILE)
    (path.parent / "another.py").write_text(RULE_FILE, encoding="utf-8")
    with pytest.raises(RuleFileError, match="TFG999 is taken"):
        rulebook.read_all(tmp_path)


def test_a_code_used_twice_is_refused_when_rules_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, RULE_FILE)
    (path.parent / "another.py").write_text(RULE_FILE, encoding="utf-8")
    monkeypatch.setattr(rulebook, "rules_folder", lambda: tmp_path)
    book = rulebook.rulebook.__wrapped__()
    assert {code: entry.module for code, entry in book.items()} == {"TFG999": "usage.an_example"}
    assert capsys.readouterr().err == "tflint-graph: another.py: the code TFG999 is taken by usage.an_example\n"


def test_a_rule_that_cannot_be_imported_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(iter(BOOK))
    entry = rulebook.RuleEntry(BOOK[code].rule, "conversion.missing", "")
    monkeypatch.setattr(rulebook, "rulebook", lambda: {**BOOK, code: entry})
    errors: list[FileError] = []
    assert rulebook.load_checks([code], errors) == []
    assert f"rule {code} cannot be loaded" in errors[0].reason
    with pytest.raises(ImportError):
        rulebook.load_checks([code])
