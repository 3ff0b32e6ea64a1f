"""Write the tables that `api` and `numeric` read from the installed libraries. Run it where TensorFlow, Keras, tf_keras and NumPy are installed:

    python -m tflint_graph.knowledge.generate [--results FILE] [--only tensorflow.math. ...]

The linter never runs this. Every measured row is the outcome of real calls in a graph (see generate_calls.py and generate_rules.py); rows that the calls did
not
settle are written without a value. Hand-checked rows (checked.txt, methods.txt) are never touched and win.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BATCH = 150  # functions per worker: measuring leaves much behind in memory
STALL = 120.0  # seconds without an answer after which a worker is killed and the function at hand given up

# Functions that must not be called at random: they touch files, devices, sessions or global settings, take callbacks, or belong to test and distribution
# machinery.
NOT_CALLED = (
    "tensorflow.io.gfile.", "tensorflow.saved_model.", "tensorflow.train.", "tensorflow.config.", "tensorflow.distribute.", "tensorflow.experimental.",
    "tensorflow.profiler.", "tensorflow.summary.",
    "tensorflow.sysconfig.", "tensorflow.test.", "tensorflow.tpu.", "tensorflow.mlir.", "tensorflow.lite.", "tensorflow.autodiff.", "tensorflow.autograph.",
    "tensorflow.data.", "tensorflow.nest.",
    "tensorflow.debugging.disable", "tensorflow.debugging.enable", "tensorflow.debugging.experimental", "tensorflow.debugging.set_log",
    "tensorflow.feature_column.", "tensorflow.queue.",
    "tensorflow.types.", "tensorflow.random.set_", "tensorflow.__", "tensorflow.compat.v1.app.", "tensorflow.compat.v1.logging.",
    "tensorflow.compat.v1.gfile.", "tensorflow.compat.v1.train.",
    "tensorflow.compat.v1.test.", "tensorflow.compat.v1.lite.", "tensorflow.compat.v1.disable_", "tensorflow.compat.v1.enable_",
    "tensorflow.compat.v1.saved_model.", "tensorflow.compat.v1.tpu.",
    "tensorflow.compat.v1.config.", "tensorflow.compat.v1.distribute.", "tensorflow.compat.v1.summary.", "tensorflow.compat.v1.profiler.",
    "tensorflow.compat.v1.flags.", "tensorflow.compat.v1.layers.",
    "tensorflow.compat.v1.user_ops", "tensorflow.compat.v1.resource_loader", "tensorflow.compat.v1.python_io", "tensorflow.compat.v1.initialize",
    "tensorflow.compat.v1.data.", "tensorflow.compat.v1.set_",
    "tensorflow.compat.v1.graph_util.", "tensorflow.compat.v1.experimental.", "tensorflow.compat.v1.feature_column.",
    "tensorflow.compat.v1.get_default_session", "tensorflow.compat.v1.nest.",
    "tensorflow.compat.v1.get_variable", "tensorflow.compat.v1.metrics.", "tensorflow.compat.v1.debugging.", "tensorflow.compat.v1.manip.",
    "tensorflow.load_", "tensorflow.compat.v1.load_", "tensorflow.compat.v1.xla.", "tensorflow.xla.",
)  # fmt: skip
CALLED_KERAS = ("keras.ops.", "keras.activations.", "keras.losses.", "keras.metrics.", "keras.random.", "keras.backend.")
NOT_CALLED_KERAS = frozenset(
    f"keras.backend.{name}"
    for name in "clear_session reset_uids set_learning_phase set_session get_session "
    "manual_variable_initialization learning_phase_scope set_value batch_set_value "
    "get_uid rnn function set_floatx set_epsilon set_image_data_format in_train_phase in_test_phase map_fn foldl foldr switch "
    "learning_phase eval get_value batch_get_value ctc_decode placeholder".split()
)
CALLBACKS = frozenset(
    "cond case switch_case while_loop map_fn scan foldl foldr vectorized_map map_structure py_function numpy_function py_func custom_gradient "
    "recompute_grad function "
    "map_flat_values grad_pass_through gradients hessians no_gradient batch_function nondifferentiable_batch_function map "
    "fori_loop associative_scan switch vmap "
    "make_template wrap_function Assert print get deserialize serialize name_scope variable_scope device control_dependencies".split()
)


def is_called(name: str) -> bool:
    """Whether a function is safe and useful to call for measuring."""
    if name.rpartition(".")[2] in CALLBACKS or name.startswith(("keras.ops.core.", "keras.metrics.Metric")):
        return False
    if name.startswith("keras."):
        return name.startswith(CALLED_KERAS) and name not in NOT_CALLED_KERAS
    return name.startswith("tensorflow.experimental.numpy.") or (name.startswith("tensorflow.") and not name.startswith(NOT_CALLED))


def describe(value: Any, classes: dict[int, str]) -> Any:
    """A result as plain data (see generate_rules.py)."""
    import numpy as np  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

    if value is None:
        return ("none",)
    if isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        return ("tensor", value.dtype.name, None, "ragged" if isinstance(value, tf.RaggedTensor) else "sparse")
    if isinstance(value, tf.Tensor):
        if hasattr(value, "numpy"):
            return ("unknown",)
        return ("tensor", value.dtype.base_dtype.name, None if value.shape.rank is None else tuple(value.shape.as_list()), "")
    if isinstance(value, tf.Variable):
        return ("variable",)
    if isinstance(value, tf.data.Dataset):
        return ("dataset",)
    if isinstance(value, tf.TensorArray):
        return ("tensorarray",)
    if isinstance(value, (list, tuple)) and not isinstance(value, tf.TensorShape):
        return ("list" if isinstance(value, list) else "tuple", tuple(describe(item, classes) for item in value))
    if isinstance(value, dict):
        return ("dict",)
    if isinstance(value, np.generic):
        return ("python", "npscalar")
    if isinstance(value, (bool, int, float, complex, str, bytes, tf.TensorShape, tf.DType)):
        return ("python", type(value).__name__ if not isinstance(value, tf.DType) else "DType")
    if isinstance(value, np.ndarray):
        return ("python", "ndarray")
    if isinstance(value, type):
        return ("python", "type")
    for cls in type(value).__mro__:
        if (name := classes.get(id(cls))) is not None and name not in ("keras.KerasSaveable",):
            return ("instance", name)
    return ("function",) if callable(value) else ("python", "object")


def worker(names_wanted: list[str]) -> None:
    """Child process: measure functions, one JSON line each, so that the parent knows where a crash happened."""
    import tensorflow as tf

    from tflint_graph.knowledge.generate_calls import measure
    from tflint_graph.knowledge.generate_names import collect
    from tflint_graph.knowledge.generate_numeric import functions, measure_function
    from tflint_graph.knowledge.generate_rules import settle

    names = collect()
    numeric = functions(names.objects)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a function prints must not mix with the answers
    for name in names_wanted:
        print(json.dumps({"at": name}), file=answers, flush=True)
        outcome = ""
        if name in numeric:
            measured, outcome = measure_function(name, numeric[name], lambda result: describe(result, names.by_id))
        else:
            with tf.Graph().as_default():
                measured = measure(names.objects[name], lambda result: describe(result, names.by_id))
        value, unless = settle(measured)
        kinds = sorted({str(sample.result[0]) for sample in measured.samples})
        row = {
            "name": name,
            "value": value,
            "unless": unless,
            "params": measured.params,
            "calls": len(measured.samples),
            "error": measured.error,
            "kinds": kinds,
            "symbolic": outcome,
        }
        print(json.dumps(row), file=answers, flush=True)


def measure_all(wanted: list[str], rows: dict[str, dict[str, Any]], results: str = "") -> None:
    """Run workers until every name has a row in `rows`; a name at which a worker dies or stalls is given up. Each worker's rows are kept in the file
    `results`."""
    for name in wanted:
        rows.pop(name, None)
    queue = list(wanted)
    while queue:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as text:
            json.dump(queue[:BATCH], text)
            text.seek(0)
            command = [sys.executable, "-m", "tflint_graph.knowledge.generate", "--worker"]
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(HERE.parents[1]), "CUDA_VISIBLE_DEVICES": "-1"}
            child = subprocess.Popen(command, stdin=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder, env=environment)
            at = _collect(child, rows)
        done = set(rows)
        batch = queue[:BATCH]
        queue = [name for name in queue if name not in done]
        if queue and at in queue:
            if not done.issuperset(batch):
                rows[at] = {"name": at, "value": None, "calls": 0, "error": "crashed", "kinds": []}
                queue.remove(at)
        elif queue and at is None:
            raise RuntimeError("the worker does not start")
        print(f"{len(queue)} left", file=sys.stderr)
        if results:
            Path(results).write_text(json.dumps(rows, indent=0))


def _collect(child: subprocess.Popen[str], rows: dict[str, dict[str, Any]]) -> str | None:
    """Read answers until the child ends or stalls; the name it was at."""
    import selectors

    assert child.stdout is not None
    at: str | None = None
    pending = ""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        limit = 240.0  # starting takes long
        while selector.select(limit):
            chunk = os.read(child.stdout.fileno(), 1 << 16).decode()
            if not chunk:
                break
            limit = STALL
            *lines, pending = (pending + chunk).split("\n")
            for line in lines:
                row = json.loads(line)
                if "at" in row:
                    at = row["at"]
                else:
                    rows[row["name"]] = row
    child.kill()
    child.wait()
    return at


def main() -> None:
    """Command line: collect names, measure functions, write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=(), help="measure only names that start with one of these; others keep their results")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--results", default="", help="keep the raw results in this JSON file and reuse those in it")
    options = parser.parse_args()
    if options.worker:
        worker(json.load(sys.stdin))
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tflint_graph.knowledge.generate_names import collect
    from tflint_graph.knowledge.generate_numeric import functions
    from tflint_graph.knowledge.generate_write import write_tables

    names = collect()
    wanted = list(functions(names.objects))
    wanted += [name for name, value in names.objects.items() if callable(value) and not isinstance(value, type) and is_called(name)]
    results: dict[str, dict[str, Any]] = {}
    if options.results and Path(options.results).exists():
        results = json.loads(Path(options.results).read_text())
    todo = [name for name in wanted if (name.startswith(tuple(options.only)) if options.only else name not in results)]
    measure_all(todo, results, options.results)
    write_tables(names, results, HERE)


if __name__ == "__main__":
    main()
