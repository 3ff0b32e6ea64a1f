"""The engine: from a linked project to findings, region by region."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tflint_graph.collector import paused_collector
from tflint_graph.findings import Because, Edit, FileError, Finding, Fix, Severity, Span, TraceStep
from tflint_graph.index.model import MODULE_SCOPE, FunctionId, Stopper
from tflint_graph.link.model import IN_GRAPH, MANY_FILES, Context
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap
from tflint_graph.rule_meta import TRACED_ONLY, Rule
from tflint_graph.rulebook import load_checks, rulebook

if TYPE_CHECKING:
    import libcst as cst

    from tflint_graph.flow.analysis import Analysis
    from tflint_graph.flow.region_facts import RegionFacts
    from tflint_graph.flow.values import Reason
    from tflint_graph.rule_api import Claim
    from tflint_graph.rulebook import RuleCheck

MAX_BECAUSE = 4
FORGET_EVERY = 400  # regions, in a project of many files


def check_files(project: Project, trace_map: TraceMap, targets: Sequence[str], codes: frozenset[str]) -> tuple[list[Finding], list[FileError]]:
    """Run the rules named by `codes` on the regions of the target files. Findings are unsorted, not yet suppressed; a rule that fails gives a FileError."""
    regions = wanted_regions(project, trace_map, targets, codes)
    if not regions:
        return [], []
    with paused_collector():
        return _Run(project, trace_map, codes).check(regions)


def wanted_regions(project: Project, trace_map: TraceMap, targets: Sequence[str], codes: frozenset[str]) -> list[FunctionId]:
    """The regions of the target files that hold traced code in which a selected rule could find something."""
    rules = [entry.rule for code, entry in rulebook().items() if code in codes]
    wanted = set(targets)
    found: dict[FunctionId, None] = {}
    for function, traced in trace_map.traced.items():
        if function.path in wanted and traced.contexts() & IN_GRAPH:
            region = project.region_of(function)
            if region not in found and _could_fire(project, region, rules):
                found[region] = None
    return sorted(found, key=lambda f: (f.path, project.files[f.path].functions[f.qualname].first_line if f.qualname in project.files[f.path].functions else 0))


def _could_fire(project: Project, region: FunctionId, rules: Iterable[Rule]) -> bool:
    index = project.function(region)
    if index is None or region.qualname == MODULE_SCOPE:
        return True
    for rule in rules:
        if not rule.triggers or index.stoppers:
            return True
        for trigger in rule.triggers:
            if (
                trigger in index.kinds
                or (trigger.startswith("call:") and trigger[5:] in index.called_names)
                or (trigger.startswith("name:") and trigger[5:] in index.bindings)
            ):
                return True
    return False


class _Run:
    """One run of the selected rules over a project."""

    def __init__(self, project: Project, trace_map: TraceMap, codes: frozenset[str]) -> None:
        self.project = project
        self.trace_map = trace_map
        self.analysis = self.new_analysis()
        self.errors: list[FileError] = []
        self.by_type: dict[type, list[RuleCheck]] = {}
        for check in load_checks(codes, self.errors):
            for kind in check.nodes:
                self.by_type.setdefault(kind, []).append(check)

    def new_analysis(self) -> Analysis:
        from tflint_graph.flow.analysis import Analysis

        return Analysis(self.project, self.trace_map)

    def check(self, regions: Sequence[FunctionId]) -> tuple[list[Finding], list[FileError]]:
        findings: list[Finding] = []
        for number, region in enumerate(regions, start=1):
            if number % FORGET_EVERY == 0 and len(self.project.files) >= MANY_FILES:
                self.analysis = self.new_analysis()  # answers do not depend on what was asked before; memory does
                gc.collect()
            try:
                findings.extend(self.check_region(region))
            except RecursionError:
                self.errors.append(FileError(region.path, self.line(region), f"`{region.qualname}` is nested too deeply to analyse"))
            except Exception as error:  # a fault of the linter in one region must not hide the findings of others
                self.errors.append(FileError(region.path, self.line(region), f"internal error while analysing `{region.qualname}`: {_where(error)}"))
        return findings, self.errors

    def line(self, region: FunctionId) -> int:
        index = self.project.function(region)
        return index.line if index is not None else 1

    def check_region(self, region: FunctionId) -> list[Finding]:
        from tflint_graph.flow.region_facts import RegionFacts

        interpreter = self.analysis.interpret(region, recording=True)
        if interpreter is None:
            return []
        facts = RegionFacts(self.analysis, interpreter)
        claims = list(self.claims(facts))
        return [self.finding(facts, rule, claim) for rule, claim in arbitrate(facts, claims)]

    def claims(self, facts: RegionFacts) -> Iterator[tuple[Rule, Claim]]:
        """One traversal: every rule sees every node of its types that stands in one of its contexts."""
        for function in facts.functions():
            if "nested" not in function.roles:
                for stopper in function.stoppers:
                    for check in self.by_type.get(Stopper, ()):
                        if check.rule.code == stopper.code and function.contexts & IN_GRAPH:
                            yield from self.run_rule(check, stopper, facts)
        for node in facts.region.nodes:
            checks = self.by_type.get(type(node))
            if checks is None:
                continue
            function_facts = facts.function(node)
            contexts = function_facts.contexts if function_facts is not None else frozenset({Context.EAGER})
            for check in checks:
                if contexts & check.rule.contexts:
                    yield from self.run_rule(check, node, facts)

    def run_rule(self, check: RuleCheck, node: cst.CSTNode | Stopper, facts: RegionFacts) -> Iterator[tuple[Rule, Claim]]:
        try:
            for claim in check.check(node, facts):
                yield check.rule, claim
        except Exception as error:  # one failing rule must not stop the run
            line = node.line if isinstance(node, Stopper) else facts.line(node)
            self.errors.append(FileError(facts.path, line, f"rule {check.rule.code} failed: {_where(error)}"))

    def finding(self, facts: RegionFacts, rule: Rule, claim: Claim) -> Finding:
        node = claim.node
        if isinstance(node, Stopper):
            span = Span(node.line, node.column, node.end_line, node.end_column)
            function = next((f for f in facts.functions() if node in f.stoppers and "nested" not in f.roles), None)
        else:
            span = facts.region.span(node)
            function = facts.function(node)
        severity = claim.severity or rule.severity
        if function is not None and not function.certain and severity is Severity.ERROR:
            severity = Severity.WARNING
        because: dict[tuple[str, int, str], str] = {}
        for value in claim.because:
            _chain(value.why, because, facts.described(value))
        for note in claim.notes:
            _chain(note, because)
        reasons = tuple(Because(path, line, what + text) for (path, line, text), what in because.items())
        steps: tuple[TraceStep, ...] = ()
        if function is not None:
            steps = function.unconverted_steps if rule.contexts == TRACED_ONLY and function.unconverted_steps else function.steps
        display = function.display if function is not None else ""
        return Finding(rule.code, rule.name, severity, claim.message, facts.path, span, display, steps, reasons, self.fix(facts, claim))

    @staticmethod
    def fix(facts: RegionFacts, claim: Claim) -> Fix | None:
        if claim.fix is None:
            return None
        edits = tuple(Edit(facts.region.span(edit.node), edit.text) for edit in claim.fix.edits)
        return Fix(claim.fix.title, claim.fix.safe, edits)


def _chain(reason: Reason | None, into: dict[tuple[str, int, str], str], what: str = "") -> None:
    """Collect the steps of a reason. The first says what it is about ("`loss` is a tensor: "); of two that say the same, the one with a name stays."""
    while reason is not None and len(into) < MAX_BECAUSE:
        step = (reason.path, reason.line, reason.text)
        if not into.get(step, "").startswith("`"):
            into[step] = what
        what = ""
        reason = reason.parent


def _where(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename.rpartition('/')[2]}, line {last.lineno})"


def arbitrate(facts: RegionFacts, claims: Sequence[tuple[Rule, Claim]]) -> list[tuple[Rule, Claim]]:
    """Keep one claim per fault: a rule's claim removes those of the codes it supersedes on the same statement, and repeats of itself on one node."""
    statements = [id(c.node) if isinstance(c.node, Stopper) else id(facts.statement(c.node)) for _, c in claims]
    gone: set[tuple[str, int]] = set()
    for (rule, _), statement in zip(claims, statements, strict=True):
        for code in rule.supersedes:
            gone.add((code, statement))
    kept: list[tuple[Rule, Claim]] = []
    seen: set[tuple[str, int]] = set()
    for (rule, claim), statement in zip(claims, statements, strict=True):
        key = (rule.code, id(claim.node))
        if (rule.code, statement) in gone or key in seen:
            continue
        seen.add(key)
        kept.append((rule, claim))
    return kept
