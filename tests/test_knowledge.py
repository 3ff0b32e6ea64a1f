"""The tables about TensorFlow: what must hold among them, and (where TensorFlow is installed) that it still does what they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import proof
import pytest

from tflint_graph.knowledge import api, autograph, errors, numeric, takers
from tflint_graph.knowledge.api import Api, canonical, is_subclass, lookup, method
from tflint_graph.knowledge.grammar import parse

PROBE = Path(__file__).with_name("knowledge_probe.py")
TABLES = Path(api.__file__).parent
RETURNS = {
    "tensor", "variable", "dataset", "iterator", "tensorarray", "python", "none", "list", "tuple", "dict", "instance", "function", "same", "unknown",
}  # fmt: skip
METHOD_TABLES = {name.split(".")[0] for name, _ in api._lines("methods.txt")}
KINDS = {"function", "class", "constant", "module"}


def every_row() -> list[Api]:
    return [found for name in api._tables().rows if (found := api._lookup(name)) is not None]


def test_every_row_can_be_read() -> None:
    for row in every_row():
        assert row.kind in KINDS, row
        for part in (row, *((row.exact,) if row.exact else ()), *(row.parts or ()), *((row.element,) if row.element else ())):
            assert part.returns in RETURNS, row
            assert part.ragged in (None, "ragged", "sparse", "maybe"), row
        if row.returns == "instance":
            assert row.ref, row
        if row.returns == "python":
            assert row.pytype != "", row


def test_rules_about_parameters_name_parameters() -> None:
    for row in every_row():
        for part in (row, *(row.parts or ())):
            for rule in (part.dtype or "", part.shape or ""):
                if match := re.match(r"(?:like|value):(\d+)", rule):
                    assert int(match[1]) < len(row.params) or row.params[0].startswith("*"), row
                if rule.startswith("param:"):
                    assert rule.split(":")[1] in row.params or row.params[-1].startswith("**"), row


def test_canonical_names_are_final() -> None:
    tables = api._tables()
    for name in tables.rows:
        assert name == canonical(name) or "." not in name or name[0].isupper() or name.split(".")[0] in METHOD_TABLES, name
    for module, groups in tables.modules.items():
        for group in groups.split("\t"):
            prefix, *words = group.split(" ")
            for word in words:
                last, _, other = word.partition("=")
                name = other or f"{prefix}.{last}"
                assert name in tables.rows, (module, word)
                assert canonical(name) == name, (module, word)


def test_the_tables_are_small_and_load_fast() -> None:
    assert sum(path.stat().st_size for path in TABLES.glob("*.txt")) < 460_000
    code = "import time; from tflint_graph.knowledge import api; t = time.perf_counter(); api.lookup('tensorflow.reduce_sum'); print(time.perf_counter() - t)"
    took = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3)]
    assert min(took) < 0.1  # about 10 ms on a quiet machine


def test_nothing_heavy_is_imported() -> None:
    imports = "import sys; from tflint_graph.knowledge import api, autograph, errors, numeric, takers"
    code = f"{imports}; print(*sorted({{'libcst', 'tensorflow', 'numpy'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tensorflow.math.reduce_sum", "tensorflow.reduce_sum"),
        ("tensorflow.compat.v2.math.reduce_sum", "tensorflow.reduce_sum"),
        ("tensorflow.compat.v1.reshape", "tensorflow.reshape"),
        ("tensorflow.compat.v1.reduce_sum", "tensorflow.compat.v1.reduce_sum"),
        ("tensorflow.python.ops.math_ops.reduce_mean", "tensorflow.reduce_mean"),
        ("tensorflow.python.ops.array_ops.identity", "tensorflow.identity"),
        ("tensorflow.python.framework.dtypes.float32", "tensorflow.float32"),
        ("tensorflow.python.eager.def_function.function", "tensorflow.function"),
        ("tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("tf_keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.keras.losses.MSE", "keras.losses.mean_squared_error"),
        ("tensorflow.half", "tensorflow.float16"),
        ("some.other.name", "some.other.name"),
    ],
)
def test_spellings(spelling: str, name: str) -> None:
    assert canonical(spelling) == name


def test_what_calls_return() -> None:
    def returns(name: str) -> tuple[Any, ...]:
        found = lookup(name)
        assert found is not None, name
        return found.returns, found.dtype, found.shape

    assert returns("tensorflow.reduce_sum") == ("tensor", "like:0", "reduce")
    assert returns("tensorflow.shape") == ("tensor", "param:out_type:int32", "vector")
    assert returns("tensorflow.size") == ("tensor", "param:out_type:int32", "scalar")
    assert returns("tensorflow.rank") == ("tensor", "int32", "scalar")
    assert returns("tensorflow.zeros") == ("tensor", "param:dtype:float32", "value:0")
    assert returns("tensorflow.cast") == ("tensor", "param:dtype:", "like:0")
    assert returns("tensorflow.equal") == ("tensor", "bool", "broadcast")
    assert returns("tensorflow.get_static_value") == ("python", None, None)
    assert returns("tensorflow.identity")[0] == "same"
    assert returns("tensorflow.cond")[0] == "unknown"
    for name in ("tensorflow.split", "tensorflow.unstack"):
        assert (found := lookup(name)) is not None
        assert found.returns == "list"
        assert found.element is not None
        assert found.element.returns == "tensor"
    for name, count in (("tensorflow.nn.moments", 2), ("tensorflow.math.top_k", 2), ("tensorflow.unique", 2)):
        assert (found := lookup(name)) is not None
        assert found.parts is not None
        assert [part.returns for part in found.parts] == ["tensor"] * count


def test_options_that_change_the_kind_of_result() -> None:
    svd, uniform, rand = lookup("tensorflow.linalg.svd"), lookup("numpy.random.uniform"), lookup("numpy.random.rand")
    assert svd is not None
    assert uniform is not None
    assert rand is not None
    assert svd.returns == "unknown"
    assert svd.given(1, ["compute_uv"]).returns == "unknown"
    assert svd.given(1, []).returns == "tuple"
    assert uniform.pytype is None
    assert uniform.given(2, []).pytype == "float"
    assert uniform.given(3, []).pytype is None
    assert rand.given(0, []).pytype == "float"
    assert rand.given(1, []).pytype is None


def test_methods_and_attributes() -> None:
    def returns(kind: str, name: str) -> str:
        found = method(kind, name)
        assert found is not None, (kind, name)
        return found.returns

    assert returns("tensor", "shape") == "python"
    assert returns("variable", "assign_add") == "variable"
    assert returns("dataset", "batch") == "dataset"
    assert returns("tensorarray", "stack") == "tensor"
    assert returns("tensorflow.data.TFRecordDataset", "map") == "dataset"
    assert returns("keras.layers.Dense", "__call__") == "tensor"
    assert returns("keras.layers.Dense", "name") == "python"
    numpy = method("tensor", "numpy")
    assert numpy is not None
    assert numpy.eager_only
    assert method("tensor", "no_such_thing") is None
    factory = lookup("tensorflow.compat.v2.data.Dataset.from_tensor_slices")
    assert factory is not None
    assert factory.returns == "dataset"


def test_classes() -> None:
    assert is_subclass("tensorflow.keras.layers.Dense", "keras.layers.Layer")
    assert is_subclass("tf_keras.Sequential", "tensorflow.keras.layers.Layer")
    assert is_subclass("tensorflow.keras.metrics.Mean", "keras.metrics.Metric")
    assert is_subclass("tensorflow.data.TFRecordDataset", "tensorflow.data.Dataset")
    assert not is_subclass("keras.layers.Layer", "keras.layers.Dense")
    assert not is_subclass("some.Layer", "keras.layers.Layer")


def test_takers() -> None:
    for name, rows in takers.TAKERS.items():
        known = lookup(name) or method(*name.split(".", 1))
        for row in rows:
            if row.position is not None and known is not None and known.params and not known.params[0].startswith("*"):
                assert known.params[row.position] == row.parameter, row
    assert [row.parameter for row in takers.takers("tensorflow.compat.v2.while_loop")] == ["cond", "body"]
    assert takers.takers("tensorflow.data.Dataset.map")[0].runs is takers.Runs.CONVERTED
    assert takers.takers("tensorflow.reduce_sum") == ()


def test_numeric_tables() -> None:
    assert numeric.raises_on_tensor("numpy.sum") == ("NotImplementedError",)
    assert numeric.raises_on_tensor("math.sqrt") == ("TypeError",)
    assert numeric.raises_on_tensor("numpy.flip") == ()
    assert numeric.works_on_tensor("numpy.flip") == "tensor"
    assert numeric.works_on_tensor("operator.add") == "tensor"
    for name, rewrite in numeric.REWRITES.items():
        assert lookup(name) is not None, name
        assert lookup(rewrite.call.replace("tf.", "tensorflow.", 1)) is not None, rewrite


def test_exception_classes() -> None:
    assert errors.caught_by("tensorflow.errors.OperatorNotAllowedInGraphError", "TypeError")
    assert errors.caught_by("NotImplementedError", "builtins.RuntimeError")
    assert not errors.caught_by("NotImplementedError", "ValueError")
    assert errors.caught_by("tensorflow.errors.OutOfRangeError", "tensorflow.errors.OpError")
    assert not errors.caught_by("tensorflow.autograph.StagingError", "RecursionError")
    assert errors.caught_by("TypeError", "BaseException")


@pytest.mark.parametrize("text", ["", "tensor[", "list*", "tuple(tensor", "tensor)", "list*(tensor,tensor)", "Tensor"])
def test_bad_notation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


# --- with TensorFlow


def ask(*arguments: str) -> Any:
    if reason := proof.missing():
        pytest.skip(reason)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    started = time.monotonic()
    child = subprocess.run([proof.interpreter(), str(PROBE), *arguments], capture_output=True, text=True, check=False, env=environment, timeout=900)
    assert child.returncode == 0, f"after {time.monotonic() - started:.0f} s: {child.stderr[-3000:]}"
    return json.loads(child.stdout)


@pytest.mark.slow
def test_measured_rows_still_hold() -> None:
    """A sample: every 25th measured function and the ones that programs use most."""
    most_used = (
        "cast reshape shape expand_dims concat ones zeros transpose gather stack tile matmul squeeze zeros_like reduce_mean reduce_sum argmax add equal square"
    ).split()
    rows = {
        name: rest.split("\t")[1]
        for name, (rest, source) in api._tables().rows.items()
        if rest.startswith("function\t") and source == "measured" and rest.count("\t") > 1 and name.startswith("tensorflow.")
    }
    wanted = sorted({*list(rows)[::25], *(f"tensorflow.{name}" for name in most_used if f"tensorflow.{name}" in rows)})
    now = ask("rows", *wanted)
    assert {name: now[name] for name in wanted} == {name: rows[name] for name in wanted}


@pytest.mark.slow
def test_values_have_the_members_of_the_table_and_no_others() -> None:
    for kind, found in ask("members").items():
        table = {name.removeprefix(f"{kind}.") for name in api._tables().rows if name.startswith(f"{kind}.")}
        table = {name for name in table if not name.startswith("_")}
        assert not table - set(found) - ELSEWHERE.get(kind, set()), kind
        if kind in COMPLETE:
            assert not set(found) - table, kind


# Members that only eager tensors or the objects of compat.v1 have.
ELSEWHERE = {"tensor": {"numpy", "item", "tolist"}, "dataset": {"make_initializable_iterator", "make_one_shot_iterator", "name"}}
COMPLETE = {"tensor", "ragged", "sparse", "tensorarray", "dataset", "iterator", "function", "str", "list", "dict", "set", "tuple", "int", "float"}


@pytest.mark.slow
def test_callbacks_are_converted_as_the_table_says() -> None:
    for key, context in ask("takers").items():
        name, parameter = key.split(" ")
        row = next(row for row in takers.TAKERS[name] if row.parameter == parameter)
        expected = "converted" if row.runs in (takers.Runs.CONVERTED, takers.Runs.EAGER) else "traced"
        assert context == expected, key


@pytest.mark.slow
def test_builtins_do_what_the_table_says() -> None:
    hangs = [key for key, both in autograph._table().items() if any(outcome.hangs for outcome in both)]
    asked = [key for key in autograph._table() if key not in hangs] + hangs[:3]
    answers = ask("builtins", *(" ".join(key) for key in asked))
    wrong = {}
    for key in asked:
        for converted, answer in zip((True, False), answers[" ".join(key)], strict=True):
            outcome = autograph.outcome(*key, converted=converted)
            assert outcome is not None
            if not agrees(outcome, answer):
                wrong[(*key, converted)] = (outcome, answer)
    assert not wrong


def agrees(outcome: autograph.Outcome, answer: str) -> bool:
    if outcome.hangs:
        return answer in ("hang", "!SystemError", "!RuntimeError")  # the alarm may interrupt a list in the making
    if outcome.raises is not None:
        return answer == f"!{outcome.raises.rpartition('.')[2]}"
    assert outcome.gives is not None
    return outcome.gives.kind in ("unknown", answer)
