"""Keras methods, and which Keras calls them."""

from __future__ import annotations

import pytest
from small_projects import linked

from tflint_graph.link.model import Context, Unconverted

LAYER = """
class Block({base}):
    def call(self, x):
        return self.helper(x)

    def helper(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("head", "base", "context", "certain"),
    [
        ("import keras", "keras.layers.Layer", Context.TRACED, True),
        ("import tensorflow as tf", "tf.keras.layers.Layer", Context.TRACED, True),
        ("import tensorflow as tf", "tf.keras.layers.Dense", Context.TRACED, True),
        ("import tensorflow as tf", "tf.keras.Model", Context.TRACED, True),
        ("from tensorflow import keras", "keras.Sequential", Context.TRACED, True),
        ("from tensorflow.keras.layers import Layer", "Layer", Context.TRACED, True),
        ("from keras import ops\nimport keras", "keras.Layer", Context.TRACED, True),
        ("import tf_keras", "tf_keras.layers.Layer", Context.CONVERTED, True),
        ("from tensorflow.python.keras.engine.base_layer import Layer", "Layer", Context.CONVERTED, True),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow as tf", "tf.keras.layers.Layer", Context.CONVERTED, True),
        ("import tensorflow as tf\nfrom somewhere import Layer", "Layer", Context.TRACED, False),
    ],
)
def test_layers(head: str, base: str, context: Context, certain: bool) -> None:
    project = linked(head + "\n" + LAYER.format(base=base))
    way = project.way("Block.call")
    assert (way.role, way.context, way.certain) == ("keras", context, certain)
    assert way.unconverted is (Unconverted.KERAS_3 if context is Context.TRACED else None)
    assert project.way("Block.helper").context is context
    assert project.way("Block.helper").unconverted is way.unconverted


def test_through_bases_of_the_project() -> None:
    project = linked(
        "import tensorflow as tf\nfrom pkg.base import Base\nclass Block(Base):\n    def call(self, x):\n        return x\n",
        pkg____init__="",
        pkg__base="import tensorflow as tf\nclass Base(tf.keras.layers.Layer):\n    pass\n",
    )
    assert project.way("Block.call").unconverted is Unconverted.KERAS_3


def test_training_steps_losses_and_metrics() -> None:
    project = linked("""
        import tensorflow as tf

        class Net(tf.keras.Model):
            def train_step(self, data): return data
            def test_step(self, data): return data
            def predict_step(self, data): return data
            def build(self, shape): pass
            def report(self): pass

        class Loss(tf.keras.losses.Loss):
            def call(self, y, p): return y

        class Metric(tf.keras.metrics.Metric):
            def update_state(self, y, p): pass
            def result(self): return 1
            def reset_state(self): pass

        class Rate(tf.keras.optimizers.schedules.LearningRateSchedule):
            def __call__(self, step): return step

        class Penalty(tf.keras.regularizers.Regularizer):
            def __call__(self, w): return w

        class Report(tf.keras.callbacks.Callback):
            def on_epoch_end(self, epoch): pass

        class Thing(tf.Module):
            def call(self, x): return x
            def __call__(self, x): return x
        """)
    assert project.traced() == {
        "Net.train_step", "Net.test_step", "Net.predict_step", "Loss.call", "Metric.update_state", "Metric.result", "Rate.__call__", "Penalty.__call__",
    }  # fmt: skip


def test_functions_handed_to_keras() -> None:
    project = linked("""
        import tensorflow as tf

        def loss(y, p): return y
        def accuracy(y, p): return y
        def double(x): return x
        def compiled(x): return x

        model = tf.keras.Sequential([tf.keras.layers.Lambda(double)])
        model.compile("sgd", loss, metrics=["mse", accuracy])

        import re
        re.compile(compiled)
        """)
    assert project.traced() == {"loss", "accuracy", "double"}
    assert {way.unconverted for q in project.traced() for way in project.ways(q)} == {Unconverted.KERAS_3}


def test_decorated_methods_are_roots() -> None:
    project = linked("""
        import tensorflow as tf

        class Block(tf.keras.layers.Layer):
            @tf.function
            def call(self, x):
                return x

        class Other(tf.keras.layers.Layer):
            @tf.autograph.experimental.do_not_convert
            def call(self, x):
                return x
        """)
    assert project.way("Block.call").role == "root"
    assert project.way("Block.call").context is Context.CONVERTED
    assert project.way("Other.call").unconverted is Unconverted.DO_NOT_CONVERT


def test_a_layer_called_in_a_graph() -> None:
    text = """
        import tensorflow as tf

        class Block(tf.keras.layers.Layer):
            def call(self, x):
                return x

        block = Block()

        @tf.function
        def step(x):
            return block(x)
        """
    assert linked(text).reasons("Block.call") == {Unconverted.KERAS_3}
    assert linked(text, keras=2).contexts("Block.call") == {Context.CONVERTED}
