"""A rule's metadata: importable without LibCST, so that flake8, `--select` and `tflint-graph rule` stay cheap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tflint_graph.findings import Severity
from tflint_graph.link.model import IN_GRAPH, Context

CONVERTED: Final = frozenset({Context.CONVERTED})
TRACED_ONLY: Final = frozenset({Context.TRACED})
TRACED: Final = IN_GRAPH


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    `contexts`   in which contexts of the function around the node `check` is called
    `triggers`   the region is looked at only if it holds one of these: `ast` class names ("If", "Return"), "call:NAME" for a called name or attribute,
                 or "name:NAME" for a name that the outermost function binds; without any, every region is looked at
    `supersedes` codes whose claims on the same statement give way to this rule's; they may be those of later releases
    """

    code: str
    name: str
    severity: Severity
    since: str
    contexts: frozenset[Context] = CONVERTED
    triggers: frozenset[str] = frozenset()
    supersedes: frozenset[str] = frozenset()
    default: bool = True
    preview: bool = False

    @property
    def family(self) -> str:
        return {"1": "conversion", "2": "tracing", "3": "retracing", "4": "device", "5": "usage"}[self.code[3]]
