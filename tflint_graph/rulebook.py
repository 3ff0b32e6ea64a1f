"""The rules as data: discovery of the rule files, the generated table of their metadata, their pages.

`python -m tflint_graph.rulebook` writes `rules/table.json` and `rules/README.md` anew. The table lets `--select`, flake8 and `tflint-graph rule` work without
importing LibCST; `load_checks` is the only function here that imports rule modules. In a checkout the rule files are read instead of the table, so that a
new rule works as soon as its file is saved.
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tflint_graph
from tflint_graph.findings import FileError, Severity
from tflint_graph.link.model import Context
from tflint_graph.rule_meta import CONVERTED, TRACED, TRACED_ONLY, Rule

TABLE = "table.json"
README = "README.md"
_TABLE_VERSION = 1
_KNOWN_NAMES: Mapping[str, object] = {"CONVERTED": CONVERTED, "TRACED": TRACED, "TRACED_ONLY": TRACED_ONLY, "Severity": Severity, "Context": Context}
_LATER_CLASSES = frozenset({"TryStar", "TypeAlias", "TemplateStr", "Interpolation"})  # of `ast` in later Pythons than the oldest one that runs the linter
_FAMILIES: Mapping[str, tuple[str, str]] = {
    "conversion": ("TFG1xx", "AutoGraph cannot convert this"),
    "tracing": ("TFG2xx", "Runs only while tracing, or silently gives another result"),
    "retracing": ("TFG3xx", "Retracing"),
    "device": ("TFG4xx", "Device set-up"),
    "usage": ("TFG5xx", "Misuse of tf.function"),
}


class RuleFileError(Exception):
    """A rule file that does not have the shape of one. The text names the file and what is missing."""


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule, the module below `tflint_graph.rules` that holds it ("conversion.loop_else"), and the first line of its page."""

    rule: Rule
    module: str
    summary: str


class RuleCheck(NamedTuple):
    """A rule ready to run: `nodes` are the classes that the annotation of the check function's first parameter names."""

    rule: Rule
    check: Callable[..., Iterator[Any]]
    nodes: tuple[type, ...]


@dataclass(frozen=True, slots=True)
class RulePage:
    """What `tflint-graph rule CODE` prints, in Markdown: the docstring's sections with the examples between them."""

    entry: RuleEntry
    docstring: str
    bad: str
    good: str
    sections: tuple[str, ...] = field(default=())

    def markdown(self) -> str:
        rule = self.entry.rule
        state = "preview, off by default" if rule.preview else "on by default" if rule.default else "off by default"
        head = f"# {rule.name} ({rule.code})\n\n*{rule.severity.value} · {state} · family {rule.family} · since {rule.since}*"
        body = list(self.sections)
        examples = [f"## {title}\n\n```python\n{text.strip()}\n```" for title, text in (("Example", self.bad), ("Use instead", self.good)) if text.strip()]
        at = next((n for n, section in enumerate(body) if section.startswith("## Fix safety")), len(body))
        body[at:at] = examples
        return "\n\n".join([head, *body]) + "\n"


def rules_folder() -> Path:
    """The folder of the rule files: inside the installed package, or at the top of a checkout."""
    for place in tflint_graph.__path__:
        folder = Path(place) / "rules"
        if folder.is_dir():
            return folder
    raise FileNotFoundError("tflint_graph is installed without its rules")


def rule_files(folder: Path) -> list[Path]:
    """The rule files, in the order of their paths. Modules whose name starts with an underscore are not rules."""
    return sorted(path for path in folder.glob("*/*.py") if not path.name.startswith("_"))


@functools.cache
def rulebook() -> Mapping[str, RuleEntry]:
    """All rules by code, in order. In a checkout, a rule file that cannot be read is named on stderr and left out."""
    folder = rules_folder()
    if folder.parent != Path(tflint_graph.__file__).parent:
        entries: dict[str, RuleEntry] = {}
        for path in rule_files(folder):
            try:
                _add(read_entry(path), entries)
            except (RuleFileError, SyntaxError, OSError) as error:
                print(f"tflint-graph: {path.name}: {error}", file=sys.stderr)
    else:
        rows = json.loads((folder / TABLE).read_text(encoding="utf-8"))["rules"]
        entries = {row["code"]: from_row(row) for row in rows}
    return {code: entries[code] for code in sorted(entries)}


def _add(entry: RuleEntry, entries: dict[str, RuleEntry]) -> None:
    """Put an entry under its code. Raises RuleFileError where another rule has the code."""
    code = entry.rule.code
    if code in entries:
        raise RuleFileError(f"the code {code} is taken by {entries[code].module}")
    entries[code] = entry


def _module_name(path: Path) -> str:
    return f"{path.parent.name}.{path.stem}"


def read_entry(path: Path) -> RuleEntry:
    """The metadata of a rule file, read from its syntax tree.

    Raises RuleFileError where the file has no docstring, no `RULE = Rule(...)` made of literals and the names of `rule_meta`, or a trigger that can never be
    met; SyntaxError and OSError as `ast.parse` and reading do.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    docstring = ast.get_docstring(tree)
    if not docstring:
        raise RuleFileError("the rule file has no docstring: its first line is the rule's summary")
    call = _constants(tree).get("RULE")
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Rule"):
        raise RuleFileError("the rule file has no `RULE = Rule(...)`")
    names = dict(_KNOWN_NAMES)
    for name, value in _constants(tree).items():
        if name != "RULE":
            try:
                names[name] = _evaluate(value, names)
            except RuleFileError:
                continue  # not needed for the metadata, most likely; if it is, the call below says so
    arguments = [_evaluate(argument, names) for argument in call.args]
    keywords = {keyword.arg: _evaluate(keyword.value, names) for keyword in call.keywords if keyword.arg}
    try:
        rule = Rule(*arguments, **keywords)  # type: ignore[arg-type]
    except TypeError as error:
        raise RuleFileError(f"`RULE = Rule(...)`: {error}") from None
    for trigger in sorted(rule.triggers):
        if not is_trigger(trigger):
            raise RuleFileError(f"the trigger `{trigger}` is no class of the module `ast`, `call:NAME` or `name:NAME`")
    return RuleEntry(rule, _module_name(path), docstring.splitlines()[0].strip())


def is_trigger(text: str) -> bool:
    """True for what a rule may have among its triggers: a class of the module `ast`, `call:NAME` or `name:NAME`."""
    kind, colon, name = text.partition(":")
    if colon:
        return kind in ("call", "name") and name.isidentifier()
    found = getattr(ast, text, None) if text.isidentifier() else None
    return text in _LATER_CLASSES or (isinstance(found, type) and issubclass(found, ast.AST))


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
            found[statement.target.id] = statement.value
    return found


def _evaluate(node: ast.expr, names: Mapping[str, object]) -> object:
    """The value of a literal, of a name in `names`, or of unions and frozensets of these."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Attribute(value=ast.Name(id="Severity" | "Context" as owner), attr=attribute) if hasattr(names[owner], attribute):
            return getattr(names[owner], attribute)
        case ast.Set(elts=items):
            return {_evaluate(item, names) for item in items}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_evaluate(item, names) for item in items)
        case ast.Call(func=ast.Name(id="frozenset" | "set"), args=[]):
            return frozenset()
        case ast.Call(func=ast.Name(id="frozenset" | "set"), args=[ast.expr() as argument]):
            return frozenset(typing.cast("Iterable[object]", _evaluate(argument, names)))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return typing.cast("frozenset[object]", _evaluate(left, names)) | typing.cast("frozenset[object]", _evaluate(right, names))
    raise RuleFileError(f"line {node.lineno}: the metadata must be made of literals, not `{ast.unparse(node)}`")


def page(code: str) -> RulePage:
    """The page of a rule, read from its file without importing it. Raises KeyError for an unknown code."""
    entry = rulebook()[code]
    family, stem = entry.module.split(".")
    tree = ast.parse((rules_folder() / family / f"{stem}.py").read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree) or ""
    constants = _constants(tree)
    texts = {name: node.value for name in ("BAD", "GOOD") if isinstance(node := constants.get(name), ast.Constant) and isinstance(node.value, str)}
    sections = tuple(part.strip() for part in re.split(r"^(?=## )", docstring, flags=re.MULTILINE) if part.strip())
    return RulePage(entry, docstring, texts.get("BAD", ""), texts.get("GOOD", ""), sections)


def load_checks(codes: Iterable[str], errors: list[FileError] | None = None) -> list[RuleCheck]:
    """Import the rules named by `codes` and say for which nodes each wants to be called.

    A rule module that cannot be imported is put into `errors` and left out; without `errors` the exception passes through.
    """
    checks: list[RuleCheck] = []
    book = rulebook()
    for code in sorted(set(codes)):
        entry = book[code]
        try:
            module = importlib.import_module(f"tflint_graph.rules.{entry.module}")
            checks.append(RuleCheck(module.RULE, module.check, _node_types(module.check)))
        except Exception as error:  # a rule must never stop the run
            if errors is None:
                raise
            family, stem = entry.module.split(".")
            errors.append(
                FileError(str(rules_folder() / family / f"{stem}.py"), _line_of(error), f"rule {code} cannot be loaded: {type(error).__name__}: {error}")
            )
    return checks


def _line_of(error: BaseException) -> int:
    if isinstance(error, SyntaxError):
        return error.lineno or 0
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_lineno if traceback is not None else 0


def _node_types(check: Callable[..., object]) -> tuple[type, ...]:
    """The classes in the annotation of a check function's first parameter; a union names several."""
    hints = typing.get_type_hints(check)
    first = next(iter(hints)) if hints else ""
    annotation = hints.get(check.__code__.co_varnames[0])
    if annotation is None:
        raise RuleFileError(f"the first parameter of `check` has no annotation{f' (found one on `{first}`)' if first else ''}")
    parts = typing.get_args(annotation) if typing.get_origin(annotation) in (typing.Union, types.UnionType) else (annotation,)
    return tuple(part for part in parts if isinstance(part, type))


def _to_row(entry: RuleEntry) -> dict[str, object]:
    rule = entry.rule
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "severity": rule.severity.value,
        "default": rule.default,
        "preview": rule.preview,
        "since": rule.since,
        "contexts": sorted(context.name for context in rule.contexts),
        "triggers": sorted(rule.triggers),
        "supersedes": sorted(rule.supersedes),
        "summary": entry.summary,
        "module": entry.module,
    }


def from_row(row: Mapping[str, Any]) -> RuleEntry:
    """A rule from its row in the generated table."""
    rule = Rule(
        code=row["code"],
        name=row["name"],
        severity=Severity(row["severity"]),
        since=row["since"],
        contexts=frozenset(Context[name] for name in row["contexts"]),
        triggers=frozenset(row["triggers"]),
        supersedes=frozenset(row["supersedes"]),
        default=row["default"],
        preview=row["preview"],
    )
    return RuleEntry(rule, row["module"], row["summary"])


def table_json(entries: Iterable[RuleEntry]) -> str:
    """The text of `rules/table.json`."""
    return json.dumps({"version": _TABLE_VERSION, "rules": [_to_row(entry) for entry in entries]}, indent=1) + "\n"


def rules_json(entries: Iterable[RuleEntry]) -> str:
    """What `tflint-graph rule --all --output-format json` prints: the metadata and the pages."""
    return json.dumps([{**_to_row(entry), "page": page(entry.rule.code).markdown()} for entry in entries], indent=2) + "\n"


def rules_markdown(entries: Iterable[RuleEntry]) -> str:
    """The text of `rules/README.md`: one table per family."""
    listed = list(entries)
    introduction = (
        "This page is generated from the rule files by `python -m tflint_graph.rulebook`.\n"
        "`tflint-graph rule CODE` prints a rule's page: what it does, why it is a problem, an example and what to write instead.\n"
        "An error is what TensorFlow does whatever the data; a warning is conditional; an info is advice."
    )
    parts = ["# Rules", introduction]
    for family, (codes, title) in _FAMILIES.items():
        rows = [entry for entry in listed if entry.rule.family == family]
        if not rows:
            continue
        lines = [f"## {codes}: {title}", "", "| Code | Name | Severity | Default | Finds |", "|---|---|---|---|---|"]
        for entry in rows:
            rule = entry.rule
            state = "preview" if rule.preview else "on" if rule.default else "off"
            link = f"[{rule.code}]({entry.module.replace('.', '/')}.py)"
            lines.append(f"| {link} | {rule.name} | {rule.severity.value} | {state} | {entry.summary.replace('|', chr(92) + '|')} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def read_all(folder: Path) -> list[RuleEntry]:
    """Every rule of a folder, read from the rule files. Raises RuleFileError (with the file's name) at the first that is not one, or for a code used twice."""
    entries: dict[str, RuleEntry] = {}
    for path in rule_files(folder):
        try:
            _add(read_entry(path), entries)
        except (RuleFileError, SyntaxError) as error:
            raise RuleFileError(f"{path}: {error}") from None
    return [entries[code] for code in sorted(entries)]


def main() -> int:
    """Write the generated files of the rules folder."""
    folder = rules_folder()
    try:
        entries = read_all(folder)
    except RuleFileError as error:
        print(error, file=sys.stderr)
        return 2
    (folder / README).write_text(rules_markdown(entries), encoding="utf-8", newline="\n")
    (folder / TABLE).write_text(table_json(entries), encoding="utf-8", newline="\n")
    print(f"{len(entries)} rules: {folder / TABLE}, {folder / README}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
