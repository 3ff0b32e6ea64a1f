"""Which rules run: selection by prefixes, as in ruff and flake8.

Selectors keep the spelling in which they were given, for messages; upper and lower case mean the same. The longest matching prefix decides; between equals,
ignoring wins. A prefix also selects rules that are off by default; a preview rule runs only when it is
named in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tflint_graph.rule_meta import Rule

ALL = "ALL"


class SelectionError(Exception):
    """A selector that names no rule. `code` is that of the rule whose name was given instead of a code, if it was."""

    def __init__(self, selector: str, code: str = "") -> None:
        if code:
            super().__init__(f"`{selector}` is the name of a rule; a code or a prefix of codes is wanted here: {code}")
        else:
            super().__init__(f"`{selector}` names no rule; `tflint-graph rule --all` lists them")
        self.selector = selector


@dataclass(frozen=True, slots=True)
class Selection:
    """What one place (the configuration, the command line) says. `select` None leaves the defaults on."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()

    def over(self, lower: Selection) -> Selection:
        """This selection on top of a weaker one. `select` starts anew: then nothing of the weaker one counts."""
        if self.select is not None:
            return self
        return Selection(
            lower.select,
            lower.ignore + self.ignore,
            lower.extend_select + self.extend_select,
            lower.extend_ignore + self.extend_ignore,
        )

    def selectors(self) -> tuple[str, ...]:
        return (self.select or ()) + self.ignore + self.extend_select + self.extend_ignore


DEFAULTS = Selection()


def check_selectors(selectors: Iterable[str], rules: Iterable[Rule]) -> None:
    """Raise SelectionError for a selector that no rule's code starts with."""
    codes = {rule.code: rule.name for rule in rules}
    for selector in selectors:
        prefix = selector.upper()
        if not prefix or (prefix != ALL and not any(code.startswith(prefix) for code in codes)):
            named = selector.lower().replace("_", "-")
            raise SelectionError(selector, next((code for code, name in codes.items() if name == named), ""))


def enabled_codes(rules: Mapping[str, Rule], selection: Selection) -> frozenset[str]:
    """The codes of the rules that run."""
    wanted = (selection.select or ()) + selection.extend_select
    unwanted = selection.ignore + selection.extend_ignore
    enabled = set()
    for code, rule in rules.items():
        chosen = _strength(code, wanted)
        if rule.preview and chosen < len(code):
            chosen = -1
        elif selection.select is None and rule.default and not rule.preview:
            chosen = max(chosen, 0)
        if chosen >= 0 and chosen > _strength(code, unwanted):
            enabled.add(code)
    return frozenset(enabled)


def _strength(code: str, selectors: Iterable[str]) -> int:
    """The length of the longest selector that matches, ALL being the weakest; -1 where none does."""
    best = -1
    for selector in map(str.upper, selectors):
        if selector == ALL:
            best = max(best, 0)
        elif code.startswith(selector):
            best = max(best, len(selector))
    return best
