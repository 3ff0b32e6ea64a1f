"""How tracing spreads, and what AutoGraph converts."""

from __future__ import annotations

import pytest
from small_projects import linked

from tflint_graph.link.model import Context, Unconverted


def test_callees() -> None:
    project = linked("""
        import functools
        import tensorflow as tf

        class Scale:
            def __init__(self, k):
                self.k = self.prepare(k)

            def prepare(self, k):
                return k

            def __call__(self, x):
                return self.times(x)

            def times(self, x):
                return x * self.k

        class Base:
            def run(self, x):
                return self.hook(x)

            def hook(self, x):
                return x

        class Derived(Base):
            def hook(self, x):
                return super().hook(x)

        def plus(k, x):
            return x + k

        def numbers(n):
            yield n

        @functools.lru_cache(None)
        def cached(n):
            return n

        scale = Scale(2)

        @tf.function
        def step(x, model: Base):
            for k in numbers(3):
                x = scale(x) + k
            add = functools.partial(plus, 1)
            return [Scale(cached(3))(add(y)) for y in (x, model.run(x))]

        def not_traced(x):
            return step(x)
        """)
    assert project.way("Scale.__call__").context is Context.CONVERTED
    assert project.way("Scale.times").context is Context.CONVERTED
    assert project.way("plus").context is Context.CONVERTED
    assert project.way("Base.run").context is Context.CONVERTED
    assert project.way("Base.hook").context is Context.CONVERTED
    assert project.way("Derived.hook").context is Context.CONVERTED
    assert project.way("Scale.__init__").unconverted is Unconverted.CONSTRUCTOR
    assert project.way("Scale.prepare").unconverted is Unconverted.CALLER
    assert project.way("numbers").unconverted is Unconverted.GENERATOR
    assert project.way("cached").unconverted is Unconverted.WRAPPED
    assert not project.ways("not_traced")


def test_across_modules() -> None:
    project = linked(
        pkg____init__="from .steps import train_step",
        pkg__compat="import tensorflow as tf",
        pkg__steps="""
            from .compat import tf
            from . import helpers
            from .helpers import deep as renamed

            @tf.function
            def train_step(x):
                return helpers.loss(x) + renamed(x)
            """,
        pkg__helpers="""
            def loss(x):
                return x

            def deep(x):
                return x
            """,
        train="""
            import pkg
            for n in range(3):
                pkg.train_step(n)
            """,
    )
    assert project.way("train_step", "pkg/steps.py").role == "root"
    assert project.way("loss", "pkg/helpers.py").context is Context.CONVERTED
    assert project.way("deep", "pkg/helpers.py").context is Context.CONVERTED
    assert project.callers("train_step", "pkg/steps.py") == {"<module>": 1}
    assert project.sites("train_step", "pkg/steps.py").complete


def test_nested_functions_and_callbacks() -> None:
    project = linked("""
        import tensorflow as tf

        def body(i):
            return i + 1

        def slice_of(x):
            return x

        def plain(x):
            return report(x)

        def report(x):
            return x

        @tf.function
        def step(x):
            def nested(i):
                return i < 3

            def eager(v):
                return report(v)

            @tf.custom_gradient
            def gradient(v):
                return v, lambda g: g

            tf.while_loop(nested, body, [0])
            tf.py_function(eager, [x], tf.int32)
            tf.numpy_function(plain, [x], tf.int32)
            return tf.map_fn(slice_of, x), gradient(x), tf.cond(x > 0, lambda: x, lambda: -x)
        """)
    assert project.way("step.<locals>.nested").context is Context.CONVERTED
    assert project.way("body").unconverted is Unconverted.CALLBACK
    assert project.way("slice_of").role == "elements"
    assert project.way("slice_of").context is Context.CONVERTED
    assert project.contexts("step.<locals>.eager") == {Context.EAGER}
    assert project.contexts("step.<locals>.gradient") == {Context.TRACED}
    assert not project.ways("plain")
    assert not project.ways("report")
    assert {project.way(q).context for q in project.traced() if "<lambda>@31" in q} == {Context.CONVERTED}


def test_strategy_run() -> None:
    project = linked("""
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()

        def replica(x):
            return x

        def eager_replica(x):
            return x

        @tf.function
        def step(x):
            return strategy.run(replica, args=(x,))

        class Loop:
            def __init__(self, strategy):
                self._strategy = strategy

            @tf.function
            def train(self, x):
                return self._strategy.run(self.one, args=(x,))

            def one(self, x):
                return x

        strategy.run(eager_replica, args=(1,))
        """)
    assert project.way("replica").role == "strategy"
    assert project.way("replica").context is Context.CONVERTED
    assert project.way("Loop.one").role == "strategy"
    assert not project.ways("eager_replica")


def test_constructs_that_stop_the_conversion() -> None:
    project = linked("""
        import tensorflow as tf

        @tf.function
        def step(x):
            def nested(v):
                return v
            for i in range(3):
                pass
            else:
                x = helper(x)
            return nested(x)

        def helper(x):
            return x

        @tf.function
        def other(x):
            return stopped(x) + helper(x)

        def stopped(x):
            while x:
                break
            else:
                x = 1
            return x
        """)
    assert project.way("step").unconverted is Unconverted.STOPPED
    assert project.way("step.<locals>.nested").unconverted is Unconverted.STOPPED
    assert project.reasons("helper") == {Unconverted.STOPPED, None}
    assert project.way("stopped").unconverted is Unconverted.STOPPED
    assert project.way("other").context is Context.CONVERTED


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("f, g = tf.function(lambda x: x), tf.function(lambda x: -x)", True),
        ("f, g = tf.function(lambda x: x), tf.function(lambda y: -y)", False),
        ("f = tf.function(lambda x: x)\ng = tf.function(lambda x: -x)", False),
        ("@tf.function\ndef f(c): return tf.cond(c, lambda: 1, lambda: 2)", False),
        ("@tf.function\ndef f(x): return [(lambda x: x)(x), (lambda x: -x)(x)]", False),
    ],
)
def test_lambdas_on_one_line(text: str, stopped: bool) -> None:
    project = linked("import tensorflow as tf\n" + text)
    reasons = {way.unconverted for traced in project.trace_map.traced.values() for way in traced.ways}
    assert (Unconverted.STOPPED in reasons) == stopped


def test_properties_and_special_methods() -> None:
    project = linked("""
        import tensorflow as tf

        class Pair:
            def __init__(self, a):
                self._a = a

            @property
            def size(self):
                return self._a

            @property
            def never(self):
                return self._a

            def __add__(self, other):
                return Pair(self._a + other._a)

        @tf.function
        def step(x):
            pair = Pair(x)
            return (pair + pair, pair.size)

        class Model:
            @property
            def rate(self):
                return 1.0

            @tf.function
            def train(self, x):
                return x * self.rate
        """)
    assert project.way("Model.rate").unconverted is Unconverted.SPECIAL_METHOD
    assert project.contexts("Pair.__add__") == {Context.TRACED}
    assert not any(way.certain for way in project.ways("Pair.__add__"))
    assert Unconverted.SPECIAL_METHOD in project.reasons("Pair.size")
    assert not project.ways("Pair.never")


def test_reached_eagerly() -> None:
    project = linked("""
        import tensorflow as tf

        def both(x):
            return x

        def graph_only(x):
            return x

        @tf.function
        def step(x):
            return both(x) + graph_only(x)

        def main():
            both(1)
            step(1)
        """)
    traced = {function.qualname: found for function, found in project.trace_map.traced.items()}
    assert traced["both"].reached_eagerly
    assert not traced["graph_only"].reached_eagerly
