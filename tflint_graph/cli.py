"""The command line: `tflint-graph check`, `traced` and `rule`.

Exit codes of `check`: 1 with findings of severity error or warning, 2 when something could not be read or run (also with findings), 0 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence

from tflint_graph import __version__
from tflint_graph.collector import paused_collector
from tflint_graph.findings import Report, Severity

OK, FOUND, FAILED = 0, 1, 2
_INTERRUPTED = 130  # the shell's code for a command that Ctrl-C ended
_TRACED_HELP = """\
List each function that TensorFlow traces and how it gets there.

  converted    AutoGraph has rewritten the function: a tensor may decide an `if` or a loop.
  traced only  TensorFlow runs the function as it stands to build the graph: Python's `if` and loops cannot use a tensor's value.
  eager        the function runs outside of any graph, with values at hand (as in tf.py_function); nothing is reported there."""


class UsageError(Exception):
    """A command line or configuration that cannot be followed; the text says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Usage errors exit through argparse with code 2."""
    options = build_parser().parse_args(arguments)
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with paused_collector():
            code = int(options.run(options))
            gc.freeze()  # the process is about to end: nothing is worth a last look through everything
        sys.stdout.flush()  # here, so that a closed pipe is noticed while it can be dealt with
        return code
    except UsageError as error:
        print(f"tflint-graph: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # `tflint-graph check | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print("tflint-graph: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:  # a fault of the linter must not look like findings (exit code 1)
        _tell_fault(error, with_traceback=getattr(options, "verbose", False))
        return FAILED


def _tell_fault(error: Exception, *, with_traceback: bool) -> None:
    import traceback

    if with_traceback:
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"tflint-graph: internal error: {text} ({os.path.basename(last.filename)}, line {last.lineno})", file=sys.stderr)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tflint-graph", description="Find what TensorFlow cannot trace or convert, without importing TensorFlow.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"tflint-graph {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = commands.add_parser("check", help="report findings", description="Report what TensorFlow cannot trace or convert.", allow_abbrev=False)
    _add_paths(check)
    for name, what in (
        ("--select", "rules to run, as codes or prefixes (TFG12); replaces the configured selection"),
        ("--ignore", "rules to leave out, as codes or prefixes"),
        ("--extend-select", "rules to run on top of the selection"),
        ("--extend-ignore", "rules to leave out on top of those ignored"),
    ):
        check.add_argument(name, metavar="CODES", action="append", type=_codes, help=what + "; separated by commas, may be repeated")
    check.add_argument("--output-format", choices=("text", "full", "json", "github"), default="text", help="default: text; full adds the reasons")
    check.add_argument("--exit-zero", action="store_true", help="exit with 0 where there are findings (not where something could not be read)")
    check.add_argument(
        "--statistics", action="store_true", help="print how often each rule fired instead of the findings (in json: next to them); not with github"
    )
    check.set_defaults(run=run_check)
    traced = commands.add_parser(
        "traced",
        help="list what TensorFlow traces",
        description=_TRACED_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_paths(traced)
    traced.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    traced.set_defaults(run=run_traced)
    rule = commands.add_parser("rule", help="explain a rule", description="Print the page of a rule, or of all rules.", allow_abbrev=False)
    rule.add_argument("codes", nargs="*", metavar="CODE", help="a code (TFG121) or a rule's name (return-in-tensor-loop)")
    rule.add_argument("--all", action="store_true", help="all rules")
    rule.add_argument("--output-format", choices=("text", "json", "markdown"), default="text", help="default: text; with --all, markdown is the table of rules")
    rule.set_defaults(run=run_rule)
    return parser


def _add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the current folder); - reads from stdin")
    parser.add_argument("--stdin-filename", metavar="PATH", help="the file that the text on stdin stands for")
    parser.add_argument("--isolated", action="store_true", help="ignore configuration files and what is installed")
    parser.add_argument("--no-cache", action="store_true", help="neither read nor write the cache of file indexes")
    parser.add_argument("--keras-version", choices=("auto", "2", "3"), default="auto", help="which Keras tf.keras is, where the code does not say")
    parser.add_argument("--verbose", action="store_true", help="say on stderr which files were read or skipped, and why, and what is traced")


def _codes(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def run_check(options: argparse.Namespace) -> int:
    """`tflint-graph check`."""
    from tflint_graph.analyse import Options, Session, analyse, trace
    from tflint_graph.report import tracing
    from tflint_graph.selection import Selection

    def joined(given: list[tuple[str, ...]] | None) -> tuple[str, ...]:
        return tuple(code for codes in given or () for code in codes)

    if options.statistics and options.output_format == "github":
        raise UsageError("--statistics cannot be combined with --output-format github")
    selection = Selection(
        None if options.select is None else joined(options.select), joined(options.ignore), joined(options.extend_select), joined(options.extend_ignore)
    )
    targets, overrides = _targets(options)
    engine_options = Options(selection, options.isolated, not options.no_cache, _keras(options))
    with _usage_errors():
        session = Session()
        report = analyse(targets, overrides=overrides, options=engine_options, session=session)
        if options.verbose:
            _tell_read(report)
            for line in tracing.lines(trace(targets, overrides=overrides, options=engine_options, session=session)[0]):
                print(line, file=sys.stderr)
    _print_errors(report)
    sys.stdout.write(_rendered(report, options))
    if report.errors:
        return FAILED
    alarming = any(finding.severity is not Severity.INFO for finding in report.findings)
    return FOUND if alarming and not options.exit_zero else OK


def _rendered(report: Report, options: argparse.Namespace) -> str:
    match options.output_format:
        case "json":
            from tflint_graph.report.machine import as_json

            return as_json(report, statistics=options.statistics)
        case "github":
            from tflint_graph.report.github import workflow_commands

            return workflow_commands(report)
    from tflint_graph.report import text

    if options.statistics:
        return text.statistics(report)
    return text.full(report) if options.output_format == "full" else text.concise(report)


def run_traced(options: argparse.Namespace) -> int:
    """`tflint-graph traced`."""
    from tflint_graph.analyse import Options, trace
    from tflint_graph.report import tracing

    targets, overrides = _targets(options)
    with _usage_errors():
        traced, report = trace(
            targets, overrides=overrides, options=Options(isolated=options.isolated, use_cache=not options.no_cache, keras_version=_keras(options))
        )
    _print_errors(report)
    if options.verbose:
        _tell_read(report)
    sys.stdout.write(tracing.as_json(traced, report) if options.output_format == "json" else tracing.as_text(traced, report))
    return FAILED if report.errors else OK


def run_rule(options: argparse.Namespace) -> int:
    """`tflint-graph rule`."""
    from tflint_graph import rulebook

    book = rulebook.rulebook()
    if options.all == bool(options.codes):
        raise UsageError("rule: give a code, or --all")
    if options.all:
        entries = list(book.values())
    else:
        by_name = {entry.rule.name: entry for entry in book.values()}
        entries = []
        for given in options.codes:
            entry = book.get(given.upper()) or by_name.get(given.lower())
            if entry is None:
                raise UsageError(f"there is no rule `{given}`; `tflint-graph rule --all` lists all rules")
            entries.append(entry)
    match options.output_format, options.all:
        case "json", _:
            sys.stdout.write(rulebook.rules_json(entries))
        case "markdown", True:
            sys.stdout.write(rulebook.rules_markdown(entries))
        case "markdown", False:
            sys.stdout.write("\n".join(rulebook.page(entry.rule.code).markdown() for entry in entries))
        case _, True:
            sys.stdout.write("".join(f"{entry.rule.code}  {entry.rule.severity.value:7}  {entry.rule.name}: {entry.summary}\n" for entry in entries))
        case _:
            _show_pages([rulebook.page(entry.rule.code).markdown() for entry in entries])
    return OK


def _show_pages(pages: Sequence[str]) -> None:
    """Rendered Markdown in a terminal, plain text elsewhere."""
    if not sys.stdout.isatty():
        sys.stdout.write("\n".join(pages))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, 120)
    for text in pages:
        console.print(Markdown(text))


def _targets(options: argparse.Namespace) -> tuple[list[str], dict[str, bytes]]:
    """The paths to look at, and the content of the one that stands for stdin."""
    from tflint_graph.analyse import STDIN

    paths: list[str] = options.paths or ["."]
    if options.stdin_filename and "-" not in paths:
        raise UsageError("--stdin-filename goes with the path -")
    if "-" not in paths:
        return paths, {}
    if len(paths) > 1:
        raise UsageError("- cannot be combined with other paths")
    name = options.stdin_filename or STDIN
    return [name], {name: sys.stdin.buffer.read()}


def _keras(options: argparse.Namespace) -> int | None:
    return None if options.keras_version == "auto" else int(options.keras_version)


@contextlib.contextmanager
def _usage_errors() -> Iterator[None]:
    """Turn what is wrong with configuration or selection into a UsageError."""
    from tflint_graph.config import ConfigError
    from tflint_graph.selection import SelectionError

    try:
        yield
    except (ConfigError, SelectionError) as error:
        raise UsageError(str(error)) from None


def _print_errors(report: Report) -> None:
    for error in report.errors:
        where = f"{error.path}:{error.line}" if error.line else error.path
        print(f"{where}: {' '.join(error.reason.split())}", file=sys.stderr)


def _tell_read(report: Report) -> None:
    """The files that were read and those that were not, with the reason."""
    for path in sorted({*report.summary.read, *report.summary.skipped}):
        reason = report.summary.skipped.get(path)
        print(f"skipped {path}: {reason}" if reason else f"read {path}", file=sys.stderr)
