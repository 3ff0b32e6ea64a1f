"""Every spelling by which a function comes to be traced."""

from __future__ import annotations

import pytest
from small_projects import linked

from tflint_graph.link.model import Context, Unconverted

STEP = "def step(x):\n    return x\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\n@tf.function\ndef step(x): return x",
        "import tensorflow as tf\n@tf.function()\ndef step(x): return x",
        "import tensorflow as tf\n@tf.function(jit_compile=True)\ndef step(x): return x",
        "import tensorflow\n@tensorflow.function\ndef step(x): return x",
        "import tensorflow.compat.v2 as tf\n@tf.function\ndef step(x): return x",
        "import tensorflow as tf\n@tf.compat.v2.function\ndef step(x): return x",
        "from tensorflow import function\n@function\ndef step(x): return x",
        "from tensorflow import function as graph\n@graph\ndef step(x): return x",
        "from tensorflow.python.eager import def_function\n@def_function.function\ndef step(x): return x",
        "from tensorflow.python.eager.def_function import function\n@function\ndef step(x): return x",
        "import tensorflow as tf\nimport functools\n@functools.partial(tf.function, autograph=True)\ndef step(x): return x",
        "import tensorflow as tf\nfrom functools import partial\njit = partial(tf.function, jit_compile=True)\n@jit\ndef step(x): return x",
        "import tensorflow as tf\ngraph = tf.function\n@graph\ndef step(x): return x",
        "import tensorflow as tf\ngraph = tf.function(jit_compile=True)\n@graph\ndef step(x): return x",
        "import tensorflow as tf\n" + STEP + "step = tf.function(step)",
        "import tensorflow as tf\n" + STEP + "fast = tf.function(step, jit_compile=True)",
        "import tensorflow as tf\n" + STEP + "fast = tf.function(func=step)",
        "import tensorflow as tf\n" + STEP + "fast = tf.function(jit_compile=True)(step)",
        "import tensorflow as tf\nimport functools\n" + STEP + "fast = functools.partial(tf.function, jit_compile=True)(step)",
        "import tensorflow as tf\nimport functools\n" + STEP + "fast = tf.function(functools.partial(step, 1))",
        "import tensorflow as tf\ngraph = tf.function\n" + STEP + "fast = graph(step)",
        "import tensorflow as tf\n" + STEP + "def train(eager):\n    fn = step if eager else tf.function(step)\n    return fn",
        "import tensorflow as tf\n" + STEP + "def train():\n    return tf.function(step)(tf.constant(1))",
        "import tensorflow as tf\n" + STEP + "def graph(fn):\n    return tf.function(fn)\nfast = graph(step)",
        "import tensorflow as tf\ndef graph(fn):\n    return tf.function(fn)\n@graph\ndef step(x): return x",
        (
            "import tensorflow as tf\ndef graph(on):\n    def wrap(fn):\n        return tf.function(fn) if on else fn\n"
            "    return wrap\n@graph(True)\ndef step(x): return x"
        ),
        "import tensorflow as tf\ndef graph(on):\n    return tf.function if on else lambda fn: fn\n@graph(True)\ndef step(x): return x",
        "try:\n    import tensorflow.compat.v2 as tf\nexcept ImportError:\n    import tensorflow as tf\n@tf.function\ndef step(x): return x",
    ],
)
def test_tf_function(text: str) -> None:
    project = linked(text)
    assert Context.CONVERTED in project.contexts("step")
    assert "root" in {way.role for way in project.ways("step")}


def test_a_wrapper_that_calls_the_function_inside_a_graph() -> None:
    project = linked("""
        import functools
        import tensorflow as tf

        def graph(fn):
            @tf.function
            @functools.wraps(fn)
            def wrapped(*args):
                return fn(*args)
            return wrapped

        @graph
        def step(x):
            return x
        """)
    assert project.way("graph.<locals>.wrapped").role == "root"
    assert project.contexts("step") == {Context.CONVERTED}


def test_methods() -> None:
    project = linked("""
        import tensorflow as tf

        class Trainer:
            def __init__(self):
                self.step = tf.function(self._step)
                self.quick = tf.function(lambda x: self.loss(x))

            def _step(self, x):
                return self.loss(x)

            def loss(self, x):
                return x

            @tf.function
            def evaluate(self, x):
                return self.loss(x)

            @staticmethod
            @tf.function
            def plain(x):
                return x
        """)
    for method in ("_step", "evaluate", "plain"):
        assert project.way(f"Trainer.{method}").role == "root"
    assert project.way("Trainer.loss").role == "callee"
    assert not project.ways("Trainer.__init__")


def test_lambdas_and_nested_functions() -> None:
    project = linked("""
        import tensorflow as tf
        double = tf.function(lambda x: x * 2)

        def make():
            @tf.function
            def inner(x):
                return x
            return inner
        """)
    assert project.way("<lambda>@3:22").role == "root"
    assert project.way("make.<locals>.inner").role == "root"
    assert not project.ways("make")


def test_autograph_off_and_do_not_convert() -> None:
    project = linked("""
        import functools
        import tensorflow as tf

        @tf.function(autograph=False)
        def a(x): return helper(x)

        @functools.partial(tf.function, autograph=False)
        def b(x): return x

        @tf.function
        @tf.autograph.experimental.do_not_convert
        def c(x): return x

        @tf.function
        def d(x): return skipped(x)

        @tf.autograph.experimental.do_not_convert
        def skipped(x): return below(x)

        def below(x): return x
        def helper(x): return x
        """)
    assert project.way("a").unconverted is Unconverted.AUTOGRAPH_FALSE
    assert project.way("b").unconverted is Unconverted.AUTOGRAPH_FALSE
    assert project.way("c").unconverted is Unconverted.DO_NOT_CONVERT
    assert project.way("helper").unconverted is Unconverted.AUTOGRAPH_FALSE
    assert project.way("skipped").unconverted is Unconverted.DO_NOT_CONVERT
    assert project.way("below").unconverted is Unconverted.DO_NOT_CONVERT


@pytest.mark.parametrize(
    ("call", "certain"),
    [
        ("tf.data.Dataset.range(3).map(f)", True),
        ("tf.data.Dataset.from_tensor_slices([1]).shuffle(2).batch(2).map(f)", True),
        ("tf.data.TFRecordDataset(['a']).map(map_func=f)", True),
        ("ds = tf.data.Dataset.range(3)\nds = ds.filter(f)", True),
        ("tf.data.Dataset.range(3).flat_map(f)", True),
        ("tf.data.Dataset.range(3).interleave(f)", True),
        ("tf.data.Dataset.range(3).reduce(0, f)", True),
        ("tf.data.Dataset.range(3).scan(0, f)", True),
        ("tf.data.Dataset.range(3).take_while(f)", True),
        ("tf.data.Dataset.zip((tf.data.Dataset.range(3),)).map(f)", True),
        ("make().map(f)", True),
        ("unknown().map(f, num_parallel_calls=4)", True),
        ("unknown().map(f, tf.data.AUTOTUNE)", True),
        ("train_ds = unknown()\ntrain_ds.map(f)", False),
        ("unknown().batch(3).map(f)", False),
        ("tf.data.Dataset.range(3).apply(lambda ds: ds.map(f))", True),
        ("tf.data.Dataset.range(3).apply(tf.data.experimental.map_and_batch(f, 3))", True),
        ("def run(ds: tf.data.Dataset):\n    return ds.map(f)", True),
        ("def run(ds):\n    return ds.map(f)\nrun(tf.data.Dataset.range(3))", True),
        ("class P:\n    def __init__(self):\n        self.data = tf.data.Dataset.range(3)\n    def go(self):\n        return self.data.map(f)", True),
        ("for fn in (f,):\n    tf.data.Dataset.range(3).map(fn)", True),
    ],
)
def test_dataset_callbacks(call: str, certain: bool) -> None:
    head = "import tensorflow as tf\ndef f(*x): return x\ndef make(): return tf.data.Dataset.range(3)\n"
    way = linked(head + call).way("f")
    assert (way.context, way.role, way.certain) == (Context.CONVERTED, "dataset", certain)


@pytest.mark.parametrize(
    "call",
    [
        "pool.map(f, [1])",
        "frame.apply(f)",
        "import functools\nfunctools.reduce(f, [1])",
        "list(map(f, [1, 2]))",
        "sorted([1], key=f)",
        "tf.data.Dataset.from_generator(f, tf.int32)",
        "tf.map_fn(f, tf.constant([1]))",
        "tf.py_function(f, [1], tf.int32)",
        "class D:\n    def map(self, g): return g(1)\nD().map(f)",
    ],
)
def test_what_traces_nothing(call: str) -> None:
    assert not linked("import tensorflow as tf\nfrom pools import pool, frame\ndef f(*x): return x\n" + call).ways("f")


def test_vectorized_map_traces_in_eager_code_too() -> None:
    assert linked("import tensorflow as tf\ndef f(x): return x\ntf.vectorized_map(f, tf.constant([1]))").way("f").unconverted is Unconverted.CALLBACK


def test_chain() -> None:
    steps = (
        linked("""
        import tensorflow as tf

        def inner(x):
            return x

        def middle(x):
            return inner(x)

        @tf.function
        def outer(x):
            return middle(x)
        """)
        .way("inner")
        .steps
    )
    assert [(step.line, step.how) for step in steps] == [(10, "@tf.function"), (12, "called by outer"), (8, "called by middle")]
