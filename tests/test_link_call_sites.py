"""Who calls a function, and when that is everybody."""

from __future__ import annotations

import pytest
from small_projects import linked

HEAD = "import tensorflow as tf\n@tf.function\ndef step(x): return x\n"


@pytest.mark.parametrize(
    ("text", "count", "complete"),
    [
        ("step(1)\nstep(2)", 2, True),
        ("def main():\n    for k in range(3):\n        step(k)", 1, True),
        ("", 0, True),
        ("again = step\nagain(1)", 1, True),
        ("fast = tf.function(step)\nfast(1)", 1, True),
        ("step.get_concrete_function(1)\nstep(1)", 2, True),
        ("print(step(1))", 1, True),
        ("names = [step]\nnames[0](1)", 1, False),
        ("table = {'a': step}", 0, False),
        ("def run(f):\n    f(1)\nrun(step)", 0, False),
        ("def give():\n    return step\nuse(give())", 0, False),
        ("import somewhere\nsomewhere.register(step)", 0, False),
        ("class A:\n    def step(self): pass\nA().step()\nstep(1)", 1, True),
        ("unknown.step(1)\nstep(1)", 1, True),
        ("thing.hook = step", 0, False),
        ("tf.data.Dataset.range(3).map(step)", 0, True),
    ],
)
def test_functions(text: str, count: int, complete: bool) -> None:
    sites = linked(HEAD + text).sites("step")
    assert (sum(sites.callers.values()), sites.complete) == (count, complete)


METHODS = """
import tensorflow as tf
class Trainer:
    def __init__(self):
        self.fast = tf.function(self._fast)
    @tf.function
    def step(self, x): return x
    def _fast(self, x): return x
    def fit(self):
        self.step(1)
        self.fast(2)
"""


@pytest.mark.parametrize(
    ("text", "method", "callers", "complete"),
    [
        ("", "step", {"Trainer.fit": 1}, True),
        ("", "_fast", {"Trainer.fit": 1}, True),
        ("t = Trainer()\nt.step(3)", "step", {"Trainer.fit": 1, "<module>": 1}, True),
        ("def go(t: Trainer):\n    t.step(3)", "step", {"Trainer.fit": 1, "go": 1}, True),
        ("def go(t):\n    t.step(3)", "step", {"Trainer.fit": 1}, False),
        ("def go(t):\n    t.fast(3)", "step", {"Trainer.fit": 1}, True),
        ("t = Trainer()\nuse(t.step)", "step", {"Trainer.fit": 1}, False),
        ("t = Trainer()\ngetattr(t, name)(3)", "step", {"Trainer.fit": 1}, False),
        ("class More(Trainer):\n    def go(self):\n        super().step(1)", "step", {"Trainer.fit": 1, "More.go": 1}, True),
    ],
)
def test_methods(text: str, method: str, callers: dict[str, int], complete: bool) -> None:
    project = linked(METHODS + text)
    assert (project.callers(f"Trainer.{method}"), project.sites(f"Trainer.{method}").complete) == (callers, complete)


@pytest.mark.parametrize(
    ("use", "complete"),
    [
        ("step = make()\nstep(1)", True),
        ("make()(1)", True),
        ("class A:\n    def __init__(self):\n        self.step = make()\n    def go(self):\n        self.step(1)", True),
        ("use(make())", False),
        ("step = make()\nuse(step)", False),
        ("use(make)", False),
    ],
)
def test_factories(use: str, complete: bool) -> None:
    project = linked("import tensorflow as tf\ndef make():\n    @tf.function\n    def inner(x):\n        return x\n    return inner\n" + use)
    assert project.sites("make.<locals>.inner").complete == complete


def test_pair_of_functions_from_a_factory() -> None:
    project = linked("""
        import tensorflow as tf

        def make():
            @tf.function
            def train(x):
                return x
            @tf.function
            def test(x):
                return x
            return train, test

        train_step, test_step = make()
        train_step(1)
        """)
    assert project.callers("make.<locals>.train") == {"<module>": 1}
    assert project.sites("make.<locals>.train").complete
    assert project.callers("make.<locals>.test") == {}


def test_a_part_of_a_project_proves_nothing() -> None:
    assert not linked(HEAD + "step(1)", complete=False).sites("step").complete


def test_callers_in_other_files() -> None:
    project = linked(
        pkg____init__="",
        pkg__steps="import tensorflow as tf\n@tf.function\ndef step(x):\n    return x\n",
        pkg__use="from pkg.steps import step as run\ndef main():\n    run(1)\n    run(2)\n",
    )
    assert project.callers("step", "pkg/steps.py") == {"main": 2}
    assert project.sites("step", "pkg/steps.py").complete
