"""What an index says about a file."""

from __future__ import annotations

import ast

import pytest
from small_projects import indexed

from tflint_graph.index.build import build_index
from tflint_graph.index.pack import PackedIndexes, pack, unpack
from tflint_graph.source.text import SourceError

TEXT = '''
"""A module."""
import os
import numpy as np
import tensorflow as tf
from . import helpers
from .models import Net as Model
from ..shared.text import *

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "4")
LIMIT = 3
LIMIT = 4
graph = tf.function


class Trainer(Model):
    """Trains."""

    scale = 2

    def __init__(self, model, *args, rate: float = 0.1, **kwargs):
        self.model = model
        self.step = tf.function(self._step)

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self._rate = value

    def _step(self, x: tf.Tensor):
        def inner(y):
            global LIMIT
            LIMIT = y
            return y
        return inner(x)


def pairs(n):
    for k in range(n):
        yield k, lambda v: v + k


async def later():
    pass


def later():
    helpers.run(pairs)
    np.mean([1])
    return print(LIMIT)
'''


def test_imports_and_names() -> None:
    index = indexed(TEXT)
    assert index.imports == {
        "os": "os",
        "np": "numpy",
        "tf": "tensorflow",
        "helpers": "pkg.helpers",
        "Model": "pkg.models.Net",
    }
    assert index.star_imports == ("shared.text",)
    assert index.environment_writes == {"TF_USE_LEGACY_KERAS": "1", "OMP_NUM_THREADS": "4"}
    assert [a.symbol for a in index.assignments["LIMIT"]] == [("const", 3), ("const", 4)]
    assert index.assignments["graph"][0].symbol == ("attr", ("name", "tf"), "function")
    assert index.lines == len(TEXT.split("\n")) - 1


def test_functions() -> None:
    index = indexed(TEXT)
    step = index.functions["Trainer._step"]
    assert (step.scope, step.class_qualname, step.column) == ("Trainer", "Trainer", 5)
    assert [p.name for p in step.params] == ["self", "x"]
    assert step.params[1].annotation == ("attr", ("name", "tf"), "Tensor")
    init = index.functions["Trainer.__init__"]
    assert [(p.name, p.kind, p.default) for p in init.params] == [
        ("self", "positional", None),
        ("model", "positional", None),
        ("args", "args", None),
        ("rate", "keyword", ("const", 0.1)),
        ("kwargs", "kwargs", None),
    ]
    inner = index.functions["Trainer._step.<locals>.inner"]
    assert inner.scope == "Trainer._step"
    assert inner.globals == {"LIMIT"}
    pairs = index.functions["pairs"]
    assert pairs.is_generator
    assert {"For", "Yield", "Lambda", "BinOp", "Name"} <= pairs.kinds
    assert "If" not in pairs.kinds
    assert any(f.is_lambda and f.scope == "pairs" for f in index.functions.values())
    first, second = (f for name, f in index.functions.items() if name.startswith("later"))
    assert (first.qualname, first.is_async) == ("later", True)
    assert second.qualname == f"later@{second.line}"
    assert second.escapes == {"pairs"} or "pairs" not in second.escapes
    assert second.called_names == {"run", "mean", "print"}
    assert [call.symbol[1] for call in second.calls] == [("attr", ("name", "helpers"), "run")]


def test_classes() -> None:
    cls = indexed(TEXT).classes["Trainer"]
    assert cls.bases == (("name", "Model"),)
    assert cls.bindings == {"scale": (("const", 2),)}
    assert cls.methods["rate"] == "Trainer.rate"
    assert cls.attributes["model"] == (("Trainer.__init__", ("name", "model")),)
    method, symbol = cls.attributes["step"][0]
    assert method == "Trainer.__init__"
    assert symbol[:3] == ("call", ("attr", ("name", "tf"), "function"), (("attr", ("name", "self"), "_step"),))


def test_positions_count_characters() -> None:
    index = indexed('s = "äö"; f = lambda x: x\ndef g(x): pass\n')
    assert "<lambda>@1:15" in index.functions


@pytest.mark.parametrize(
    ("body", "escapes"),
    [
        ("use(helper)", set()),
        ("x = helper", set()),
        ("return helper", set()),
        ("return helper, helper", set()),
        ("x = [helper]", {"helper"}),
        ("other.hook = helper", {"helper"}),
        ("table[0] = helper", {"helper"}),
        ("print(helper)", {"helper"}),
        ("assert helper", {"helper"}),
        ("helper.name = 1", set()),
        ("x = [self.helper]", {"self.helper"}),
        ("x = [make().helper]", {".helper"}),
        ("x = [tf.float32]", set()),
        ("helper = 1\n    x = [helper]", set()),
    ],
)
def test_escapes(body: str, escapes: set[str]) -> None:
    index = indexed(f"import tensorflow as tf\ndef helper(): pass\ndef f(self, other, table):\n    {body}\n")
    assert index.functions["f"].escapes == escapes


def test_a_given_tree_gives_the_same_index() -> None:
    data = TEXT.encode()
    assert build_index("m.py", "m", data, ast.parse(TEXT)) == build_index("m.py", "m", data)


def test_packing_keeps_everything() -> None:
    index = indexed(TEXT)
    assert unpack(pack(index)) == index
    with pytest.raises(ValueError, match="not a packed index"):
        unpack(b"damaged")


def test_packed_indexes_keep_few_objects() -> None:
    indexes = {f"{k}.py": indexed(TEXT, path=f"{k}.py") for k in range(5)}
    packed = PackedIndexes(((path, pack(index)) for path, index in indexes.items()), hot_bytes=1)
    assert list(packed) == list(indexes)
    assert packed["3.py"] is packed["3.py"]
    for path in packed:
        assert packed[path] == indexes[path]
    packed.add("3.py", pack(indexed("x = 1", path="3.py")))
    assert packed["3.py"].lines == 1
    assert "9.py" not in packed


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"x = 1\ny = (\n", 2, "SyntaxError"),
        (b"x = 1\ndef f(:\n", 2, "SyntaxError"),
        (b"x = 1\n# \xff\n", 2, "cannot decode byte 0xff"),
        (b"# coding: nonsense\n", 1, "nonsense"),
        (b"x = 1\n\0\n", 2, "null bytes"),
        (b"x = " + b"-" * 200_000 + b"1\n", 0, "nested too deeply"),
    ],
)
def test_what_is_no_python(data: bytes, line: int, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as caught:
        build_index("m.py", "m", data)
    assert caught.value.line == line


def test_long_chains_are_read() -> None:
    chain = "x = " + " + ".join(["a"] * 900) + "\nif x: pass\n" + "elif x: pass\n" * 200
    assert "BinOp" in indexed("def f(a):\n    " + chain.replace("\n", "\n    ")).functions["f"].kinds
