"""The one function behind every entry: files in, findings out.

The command line, the flake8 plugin and everything else call `analyse`; they differ in where text comes from and where findings go. Paths are absolute inside
the engine; a report shows them relative to the current folder where they lie below it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tflint_graph.cache import IndexCache
from tflint_graph.config import Config, ConfigError, find_config, line_of_setting
from tflint_graph.discover import Root, above_packages, common_folder, discover, matches, project_root, walk
from tflint_graph.findings import Because, FileError, Finding, Report, Summary, TraceStep
from tflint_graph.keras_version import keras_of_project
from tflint_graph.link.model import Traced
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap
from tflint_graph.rulebook import rulebook
from tflint_graph.selection import ALL, DEFAULTS, Selection, SelectionError, check_selectors, enabled_codes
from tflint_graph.suppress import unsuppressed

STDIN = "<stdin>"


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller says on top of the configuration.

    `selection` is the command line's; `isolated` leaves out configuration files and what is installed; `noqa` False reports suppressed findings too.
    """

    selection: Selection = DEFAULTS
    isolated: bool = False
    use_cache: bool = True
    keras_version: int | None = None
    noqa: bool = True


DEFAULT_OPTIONS = Options()


@dataclass(slots=True)
class Workspace:
    """One project, linked: what `analyse` keeps between files of one project."""

    root: Root
    config: Config
    project: Project
    trace_map: TraceMap
    codes: frozenset[str]
    errors: dict[str, FileError]
    skipped: dict[str, str]
    members: frozenset[str]


@dataclass(slots=True)
class Session:
    """The open workspaces and the settings, by root: an entry that asks file by file (flake8) keeps one session and passes it each time, with the same options.

    What was opened is not read again.
    """

    workspaces: dict[str, Workspace] = field(default_factory=dict)
    configs: dict[str, Config] = field(default_factory=dict)


def analyse(
    targets: Sequence[str],
    *,
    overrides: Mapping[str, bytes] | None = None,
    options: Options = DEFAULT_OPTIONS,
    session: Session | None = None,
) -> Report:
    """Look at the target files and folders and report what is wrong in them.

    `overrides` gives the content of files that differ from the disk (an editor's buffer, stdin), by path; `STDIN` is a file without a name. Call sites are
    looked for in the whole project of each target, findings are reported for the targets only. Problems with single files are in the report; ConfigError and
    SelectionError pass through.
    """
    report = Report()
    for workspace, files in _open_all(targets, overrides or {}, options, session, report):
        report.findings += _finish(workspace, _check(workspace, files, report), options)
    report.findings = sorted({_sort_key(finding): finding for finding in report.findings}.values(), key=_sort_key)
    report.errors = _ordered(report.errors)
    return report


def trace(
    targets: Sequence[str], *, overrides: Mapping[str, bytes] | None = None, options: Options = DEFAULT_OPTIONS, session: Session | None = None
) -> tuple[list[tuple[Traced, int]], Report]:
    """What TensorFlow traces in the target files: each function with its first line, in the order of paths and lines. The report has no findings."""
    report = Report()
    found: list[tuple[Traced, int]] = []
    for workspace, files in _open_all(targets, overrides or {}, options, session, report):
        for traced in traced_in(workspace, files):
            index = workspace.project.function(traced.function)
            found.append((traced, index.line if index is not None else 0))
    found.sort(key=lambda item: (item[0].function.path, item[1]))
    report.errors = _ordered(report.errors)
    return found, report


def traced_in(workspace: Workspace, files: Iterable[str]) -> list[Traced]:
    """The traced functions of some files."""
    wanted = set(files)
    return [traced for traced in workspace.trace_map.traced.values() if traced.function.path in wanted]


def shown(path: str) -> str:
    """A path as a report shows it: relative to the current folder where it lies below it."""
    here = os.getcwd()
    return os.path.relpath(path, here) if path.startswith(here.rstrip(os.sep) + os.sep) else path


def _open_all(
    targets: Sequence[str], overrides: Mapping[str, bytes], options: Options, session: Session | None, report: Report
) -> list[tuple[Workspace, list[str]]]:
    """Group the target files by project and open each project. Paths that do not exist go into the report."""
    buffers = {_absolute(path): content for path, content in overrides.items()}
    given = [_absolute(path) for path in targets]
    named = [path for path in given if path not in buffers]
    configs = session.configs if session is not None else {}

    def config_of(folder: str) -> Config:
        if folder not in configs:
            configs[folder] = Config() if options.isolated else find_config(folder)
        return configs[folder]

    def config_for_walk(folder: str) -> Config:
        root = project_root(folder)
        return config_of(root.folder if root else folder)

    found = discover(named, config_for_walk)
    report.errors += found.errors
    report.summary.skipped.update({shown(path): reason for path, reason in found.skipped.items()})
    files = list(dict.fromkeys([*found.files, *(path for path in given if path in buffers)]))
    groups = _by_root(files, [path for path in given if path != STDIN and (path in buffers or os.path.exists(path))])
    opened = []
    for root, members in groups.items():
        workspace = _open(root, members, buffers, config_of(root.folder), options, session)
        report.errors += [workspace.errors[file] for file in members if file in workspace.errors]
        _count(workspace, members, report.summary)
        opened.append((workspace, members))
    return opened


def _count(workspace: Workspace, files: Sequence[str], summary: Summary) -> None:
    """Add what was looked at in one project."""
    summary.files += len(files)
    summary.relevant += sum(file in workspace.project.files for file in files)
    summary.traced += len(traced_in(workspace, files))
    summary.read += [shown(file) for file in files if file not in workspace.errors]
    summary.skipped.update({shown(file): workspace.skipped[file] for file in files if file in workspace.skipped})


def _by_root(files: Sequence[str], given: Sequence[str]) -> dict[Root, list[str]]:
    """The files by the project they belong to. Files outside any project share the common folder of the given paths."""
    groups: dict[Root, list[str]] = defaultdict(list)
    roots: dict[str, Root] = {}
    for file in files:
        if file == STDIN:
            groups[Root(os.getcwd(), marked=False)].append(file)
            continue
        folder = os.path.dirname(file)
        if folder not in roots:
            roots[folder] = project_root(folder) or Root(above_packages(common_folder(given)), marked=False)
        groups[roots[folder]].append(file)
    return groups


def _absolute(path: str) -> str:
    return path if path == STDIN else os.path.abspath(path)


def _open(root: Root, files: Sequence[str], buffers: Mapping[str, bytes], config: Config, options: Options, session: Session | None) -> Workspace:
    """Index and link one project, or take it from the session."""
    wanted = set(files)
    own_buffers = {path: content for path, content in buffers.items() if path in wanted}
    if session is not None and not own_buffers:
        known = session.workspaces.get(root.folder)
        if known is not None and wanted <= known.members:
            return known
    from tflint_graph.link.loading import load_project
    from tflint_graph.link.trace_map import link

    codes = _codes(config, options)
    alone = files == [STDIN]
    members = list(files) if alone else list(dict.fromkeys([*files, *_members(root, files, config)]))
    cache = IndexCache(root.folder) if options.use_cache and not alone else None
    keras = options.keras_version or config.keras_version or keras_of_project(root.folder, isolated=options.isolated)
    loaded = load_project(root.folder, members, _reader(own_buffers), complete=not alone, keras=keras, cached=None if cache is None else cache.get_or_make)
    errors = {error.path: error for error in loaded.errors}
    workspace = Workspace(root, config, loaded.project, link(loaded.project), codes, errors, loaded.counts.skipped, frozenset(members))
    if session is not None and not own_buffers:
        session.workspaces[root.folder] = workspace
    return workspace


def _reader(buffers: Mapping[str, bytes]) -> Callable[[str], bytes]:
    def read(path: str) -> bytes:
        if path in buffers:
            return buffers[path]
        with open(path, "rb") as file:
            return file.read()

    return read


def _members(root: Root, files: Sequence[str], config: Config) -> Iterator[str]:
    """The other files of the project: all below a marked root; without one, those beside the given files and in packages there."""
    if root.marked:
        yield from walk(root.folder, config)
        return
    for folder in sorted({os.path.dirname(file) for file in files}):
        yield from walk(above_packages(folder), config, packages_only=True)


def _codes(config: Config, options: Options) -> frozenset[str]:
    """The rules that run. Raises ConfigError for a selector in the configuration that names no rule, SelectionError for one in the options."""
    rules = {code: entry.rule for code, entry in rulebook().items()}
    configured = Selection(config.select, config.ignore, config.extend_select, config.extend_ignore)
    check_selectors(options.selection.selectors(), rules.values())
    try:
        check_selectors([*configured.selectors(), *(code for _, codes in config.per_file_ignores for code in codes)], rules.values())
    except SelectionError as error:
        raise ConfigError(config.path, line_of_setting(config.path, error.selector), str(error)) from None
    return enabled_codes(rules, options.selection.over(configured))


def _check(workspace: Workspace, files: Sequence[str], report: Report) -> list[Finding]:
    """Run the rules on the target files that TensorFlow concerns; without any, LibCST is never imported."""
    relevant = [file for file in files if file in workspace.project.files]
    if not relevant:
        return []
    from tflint_graph.engine import check_files

    findings, errors = check_files(workspace.project, workspace.trace_map, relevant, workspace.codes)
    report.errors += errors
    return findings


def _finish(workspace: Workspace, findings: Sequence[Finding], options: Options) -> list[Finding]:
    """Drop what comments and per-file-ignores suppress, and show paths as the reader knows them."""
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[finding.path].append(finding)
    kept: list[Finding] = []
    for path, of_file in by_file.items():
        ignored = _ignored_here(workspace.config, path)
        remaining = [finding for finding in of_file if not (ignored and (finding.code.startswith(ignored)))]
        if options.noqa and remaining:
            remaining = unsuppressed(remaining, workspace.project.source(path).decode("utf-8", "replace"))
        kept += remaining
    return [
        replace(
            finding,
            path=shown(finding.path),
            traced_by=tuple(TraceStep(shown(step.path), step.line, step.how) for step in finding.traced_by),
            because=tuple(Because(shown(reason.path), reason.line, reason.text) for reason in finding.because),
        )
        for finding in kept
    ]


def _ignored_here(config: Config, path: str) -> tuple[str, ...]:
    """The selectors that per-file-ignores switch off in a file."""
    ignored: list[str] = []
    for pattern, codes in config.per_file_ignores:
        if path != STDIN and matches(pattern, path, config.folder):
            ignored += ["" if code == ALL else code for code in map(str.upper, codes)]
    return tuple(ignored)


def _ordered(errors: Iterable[FileError]) -> list[FileError]:
    """The problems with paths as the reader knows them, sorted, each once."""
    return sorted({replace(error, path=shown(error.path)) for error in errors}, key=lambda error: (error.path, error.line, error.reason))


def _sort_key(finding: Finding) -> tuple[str, int, int, str, str]:
    return (finding.path, finding.span.line, finding.span.column, finding.code, finding.message)
