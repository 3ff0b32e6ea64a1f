"""Constructs that stop AutoGraph's conversion, and those that look like them."""

from __future__ import annotations

import pytest
from small_projects import indexed


def codes(body: str, head: str = "def f(x):\n") -> list[str]:
    text = head + "".join(f"    {line}\n" for line in body.split("\n"))
    return [stopper.code for stopper in indexed(text).functions["f"].stoppers]


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("TFG101", "for i in x: pass\nelse: pass"),
        ("TFG101", "while x: pass\nelse: pass"),
        ("TFG101", "def g():\n    for i in x: pass\n    else: pass"),
        ("TFG101", "class A:\n    for i in range(3): pass\n    else: z = 1"),
        ("TFG102", "def g():\n    yield x"),
        ("TFG102", "def g():\n    yield from x"),
        ("TFG102", "g = lambda: (yield x)"),
        ("TFG103", "async def g(): return x"),
        ("TFG103", "async def g(y): pass"),
        ("TFG104", "match x:\n    case 1: pass"),
        ("TFG105", "if (y := x) > 0: pass"),
        ("TFG105", "return [y for v in x if (y := v)]"),
        ("TFG105", "g = lambda v: 1 + (w := v)"),
        ("TFG106", "return x.__hidden"),
        ("TFG106", "x.__hidden_ = 1"),
        ("TFG106", "g = lambda: x.__hidden"),
        ("TFG107", "tf.autograph.experimental.set_loop_options()"),
        ("TFG107", "for i in x:\n    y = 1\n    tf.autograph.experimental.set_loop_options()"),
        ("TFG108", "try: pass\nexcept E: pass\nelse:\n    if x: pass"),
    ],
)
def test_stoppers(code: str, body: str) -> None:
    assert codes(body) == [code]


@pytest.mark.parametrize(
    "body",
    [
        "for i in x: pass",
        "yield x",
        "return list(v for v in x)",
        "async def g(): pass",
        "return x.__dict__",
        "return x._C__hidden",
        "__hidden = 1\nreturn __hidden",
        "def __hidden(): pass",
        "if (y := x): pass",
        "def g(y=(z := 3)): pass",
        "@deco(z := 3)\ndef g(y): pass",
        "for i in x:\n    tf.autograph.experimental.set_loop_options()\n    y = 1",
        "while x:\n    tf.autograph.experimental.set_loop_options()\n    y = 1",
        "g = tf.autograph.experimental.set_loop_options",
        "try: pass\nexcept E:\n    if x: pass\nelse: pass\nfinally:\n    if x: pass",
        "try: pass\nexcept E: pass\nelse:\n    y = 1\n    if x: pass",
        "try: pass\nexcept E: pass\nelse:\n    for i in x: pass",
        "try: pass\nexcept E: pass\nelse:\n    y = 1 if x else 2",
        "match = 1",
    ],
)
def test_no_stoppers(body: str) -> None:
    assert codes(body) == []


def test_walrus_in_signature_and_decorator() -> None:
    assert codes("return x", "@deco(y := 3)\ndef f(x=(z := 1)):\n") == []


def test_positions() -> None:
    (stopper,) = indexed("def f(o):\n    ä = o.__v\n").functions["f"].stoppers
    assert (stopper.line, stopper.column, stopper.end_line, stopper.end_column, stopper.detail) == (2, 9, 2, 14, "__v")
    (stopper,) = indexed("def f(x):\n    for i in x:\n        pass\n    else:\n        pass\n").functions["f"].stoppers
    assert (stopper.line, stopper.column, stopper.end_line) == (2, 5, 2)


def lambda_codes(text: str) -> list[str]:
    return [stopper.code for f in indexed(text).functions.values() if f.is_lambda for stopper in f.stoppers]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("f = [lambda x: x, lambda x: -x]", 2),
        ("f = lambda x: lambda x: x", 2),
        ("f = [lambda x: x, lambda y: -y]", 0),
        ("f = [lambda x: x, lambda x, y: -x]", 0),
        ("f = [lambda x: x,\n lambda x: -x]", 0),
        ("f = [lambda *x: x, lambda x: -x]", 0),
        ("f = [lambda x=1: x, lambda x: -x]", 2),
    ],
)
def test_ambiguous_lambdas(text: str, count: int) -> None:
    assert lambda_codes(text) == ["TFG109"] * count


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("def make():\n    from typing import Tuple\n    def f(x) -> Tuple: return x", True),
        ("def make():\n    from typing import Tuple\n    def f(x: Tuple): return x", True),
        ("def make():\n    from typing import Tuple\n    def f(x: Tuple): return Tuple", False),
        ("def make():\n    from typing import Tuple\n    def f(x: 'Tuple'): return x", False),
        ("from typing import Tuple\ndef make():\n    def f(x: Tuple): return x", False),
        ("from __future__ import annotations\ndef make():\n    from typing import Tuple\n    def f(x: Tuple): return x", False),
        ("def make():\n    def f(x: int): return x", False),
    ],
)
def test_annotations_from_an_enclosing_function(text: str, stopped: bool) -> None:
    stoppers = indexed(text).functions["make.<locals>.f"].stoppers
    assert [s.code for s in stoppers] == (["TFG113"] if stopped else [])
