"""Which rules run."""

from __future__ import annotations

import pytest

from tflint_graph.findings import Severity
from tflint_graph.rule_meta import Rule
from tflint_graph.selection import Selection, SelectionError, check_selectors, enabled_codes

RULES = {
    rule.code: rule
    for rule in (
        Rule("TFG101", "a", Severity.ERROR, "0.1.0"),
        Rule("TFG121", "b", Severity.ERROR, "0.1.0"),
        Rule("TFG122", "c", Severity.INFO, "0.1.0", default=False),
        Rule("TFG129", "d", Severity.ERROR, "0.1.0", preview=True),
    )
}


def enabled(**selection: tuple[str, ...]) -> list[str]:
    return sorted(enabled_codes(RULES, Selection(**selection)))


def test_defaults() -> None:
    assert enabled() == ["TFG101", "TFG121"]


def test_the_longest_prefix_decides() -> None:
    assert enabled(select=("TFG1",)) == ["TFG101", "TFG121", "TFG122"]
    assert enabled(select=("TFG1",), ignore=("TFG12",)) == ["TFG101"]
    assert enabled(select=("TFG121",), ignore=("TFG12",)) == ["TFG121"]
    assert enabled(select=("TFG12",), ignore=("TFG12",)) == []
    assert enabled(ignore=("ALL",)) == []
    assert enabled(select=("ALL",)) == ["TFG101", "TFG121", "TFG122"]


def test_extending() -> None:
    assert enabled(extend_select=("TFG122",)) == ["TFG101", "TFG121", "TFG122"]
    assert enabled(extend_ignore=("TFG10",)) == ["TFG121"]


def test_preview_rules_run_only_when_named() -> None:
    assert enabled(select=("TFG129",)) == ["TFG129"]
    assert "TFG129" in enabled(extend_select=("TFG129",))


def test_a_selection_on_top_of_another() -> None:
    lower = Selection(select=("TFG1",), ignore=("TFG101",))
    assert Selection(ignore=("TFG121",)).over(lower) == Selection(("TFG1",), ("TFG101", "TFG121"))
    assert Selection(select=("TFG101",)).over(lower) == Selection(("TFG101",))


def test_a_selector_that_names_nothing_is_an_error() -> None:
    check_selectors(["TFG", "TFG12", "ALL"], RULES.values())
    with pytest.raises(SelectionError, match="`TFG19`"):
        check_selectors(["TFG19"], RULES.values())
    with pytest.raises(SelectionError, match="`Tfg19` names no rule"):
        check_selectors(["Tfg19"], RULES.values())
    with pytest.raises(SelectionError, match="`B` is the name of a rule; a code or a prefix of codes is wanted here: TFG121"):
        check_selectors(["B"], RULES.values())


def test_case_does_not_matter() -> None:
    check_selectors(["tfg12", "all"], RULES.values())
    assert enabled(select=("tfg1",), ignore=("tfg12",)) == ["TFG101"]
    assert enabled(ignore=("all",)) == []
