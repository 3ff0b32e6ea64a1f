"""Which files are worth parsing."""

from __future__ import annotations

import pytest
from small_projects import linked

from tflint_graph.index.gate import imported_modules, mentions_tensorflow


@pytest.mark.parametrize("text", ["import tensorflow as tf", "from keras import layers", "x = tf.constant(1)", "from .compat import tf", "import tf_keras"])
def test_mentions(text: str) -> None:
    assert mentions_tensorflow(text.encode())


def test_mentions_nothing() -> None:
    assert not mentions_tensorflow(b"import numpy as np\nprint(np.ones(3))\n")


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a.b import c, d as e", {"a.b", "a.b.c", "a.b.d"}),
        ("from . import x\nfrom .y import z", {".", ".x", ".y", ".y.z"}),
        ("from a import (  # why\n    b,\n    c as d,\n)\n", {"a", "a.b", "a.c"}),
        ("if x:\n    import inner\n", {"inner"}),
        ("x = 'import nothing'\nimportant = 1\n", set()),
        ("from a import *", {"a", "a.*"}),
    ],
)
def test_imports(text: str, modules: set[str]) -> None:
    assert imported_modules(text.encode()) == modules


def test_what_a_project_indexes() -> None:
    project = linked(
        pkg____init__="",
        pkg__model="import tensorflow as tf\nfrom pkg.helper import scale\n",
        pkg__helper="from pkg import deeper\ndef scale(x): return x\n",
        pkg__deeper="",
        pkg__alone="import os\n",
        train="from pkg import model\n",
        launch="import train\n",
        report="import json\n",
    )
    assert {path.removeprefix("/p/") for path in project.project.files} == {
        "pkg/__init__.py", "pkg/model.py", "pkg/helper.py", "pkg/deeper.py", "train.py", "launch.py",
    }  # fmt: skip
    assert set(project.loaded.counts.skipped) == {"/p/pkg/alone.py", "/p/report.py"}
    assert (project.loaded.counts.files, project.loaded.counts.relevant) == (8, 1)


def test_a_broken_file_loses_nothing_else() -> None:
    project = linked(
        "import tensorflow as tf\n@tf.function\ndef step(x): return x\n",
        broken="import tensorflow as tf\ndef f(:\n",
    )
    assert [(error.path, error.line) for error in project.loaded.errors] == [("/p/broken.py", 2)]
    assert project.ways("step")
