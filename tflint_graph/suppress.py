"""`# noqa` comments, read the way flake8 reads them.

A comment anywhere on a logical line (a statement may go over many lines) holds for all of it. Codes may be prefixes, in any case, separated by commas or
blanks; without codes everything is suppressed. `# flake8: noqa` on a line of its own suppresses the whole file, with codes only these.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence

from tflint_graph.findings import Finding

_CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
_LINE = re.compile(rf"# noqa(?::\s?(?P<codes>{_CODES}))?", re.IGNORECASE)
_FILE = re.compile(rf"\s*# flake8[:=]\s*noqa(?P<codes>:\s?{_CODES})?\s*$", re.IGNORECASE)


def unsuppressed(findings: Iterable[Finding], text: str) -> list[Finding]:
    """The findings of one file that no comment in its text suppresses."""
    kept = list(findings)
    if not kept or "noqa" not in text.lower():
        return kept
    lines = text.splitlines(keepends=True)
    whole_file = _file_codes(lines)
    if whole_file is not None and not whole_file:
        return []
    comments = _logical_lines(text, lines)
    return [
        finding
        for finding in kept
        if not (whole_file and _names(whole_file, finding.code)) and not _suppresses(comments.get(finding.span.line, ""), finding.code)
    ]


def _file_codes(lines: Sequence[str]) -> frozenset[str] | None:
    """The codes suppressed in the whole file: empty for all of them, None where no line says so."""
    codes: set[str] = set()
    found = False
    for line in lines:
        match = _FILE.match(line)
        if match:
            if not match["codes"]:
                return frozenset()
            found = True
            codes |= _split(match["codes"].lstrip(":"))
    return frozenset(codes) if found else None


def _suppresses(line: str, code: str) -> bool:
    match = _LINE.search(line)
    return match is not None and (match["codes"] is None or _names(_split(match["codes"]), code))


def _split(codes: str) -> frozenset[str]:
    return frozenset(part.upper() for part in re.split(r"[,\s]+", codes) if part)


def _names(codes: frozenset[str], code: str) -> bool:
    return code.startswith(tuple(codes))


def _logical_lines(text: str, lines: Sequence[str]) -> dict[int, str]:
    """For each 1-based line, the text of the logical line it belongs to. Where the file cannot be tokenized, each line stands for itself."""
    joined = dict(enumerate(lines, 1))
    start = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.ENDMARKER, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT, tokenize.INDENT) and not start:
                continue
            start = start or token.start[0]
            if token.type == tokenize.NEWLINE:
                end = token.start[0]
                if end > start:
                    whole = "".join(lines[start - 1 : end])
                    joined.update(dict.fromkeys(range(start, end + 1), whole))
                start = 0
    except (tokenize.TokenError, SyntaxError):
        pass
    return joined
