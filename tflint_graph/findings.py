"""The data that leaves the engine: findings, errors and what was looked at.

Everything here is plain, picklable and free of syntax trees. Lines and columns are 1-based; columns count characters, not bytes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Severity(enum.Enum):
    """How sure and how bad: an ERROR is what TensorFlow does whatever the data, a WARNING is conditional, an INFO is advice."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a file: 1-based lines and columns, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One link of the chain that brings TensorFlow's tracing to a function, outermost first.

    `how` is a phrase a message can quote: "@tf.function", "Dataset.map callback", "called by train_step".
    """

    path: str
    line: int
    how: str


@dataclass(frozen=True, slots=True)
class Because:
    """One step of the evidence behind a finding: "`x` is a tensor: result of tf.reduce_sum"."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite of the source. `safe` means the program's results cannot change."""

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at one place, in the user's own names."""

    code: str
    name: str
    severity: Severity
    message: str
    path: str
    span: Span
    function: str
    traced_by: tuple[TraceStep, ...] = ()
    because: tuple[Because, ...] = ()
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be read or a rule that failed on it. `line` is 0 when no line applies."""

    path: str
    line: int
    reason: str


@dataclass(slots=True)
class Summary:
    """What was looked at, so that silence is not mistaken for success.

    `files` counts files looked at, `relevant` those that mention TensorFlow or Keras, `traced` the functions in them that TensorFlow traces.
    `read` names the files, `skipped` maps a path to the reason it was left out.
    """

    files: int = 0
    relevant: int = 0
    traced: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """The outcome of one run of the engine, findings sorted by path and position."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    summary: Summary = field(default_factory=Summary)
