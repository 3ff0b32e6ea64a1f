"""Runs programs under the real TensorFlow: imports it once, then forks one child per run. Started by proof.py, never imported.

Reads one JSON list of jobs from standard input and writes one JSON line per finished job. The server itself never runs an op: a fork is safe only as long as
TensorFlow has initialised no device and started no thread pool.
"""

# TensorFlow ships no stubs, and need not be installed where types are checked.
# mypy: disable-error-code="import-untyped,import-not-found"

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

tf.keras.layers  # noqa: B018  (the attribute imports Keras, which takes seconds: do it once, before any fork)


def plain(value: Any) -> Any:
    """A result as JSON: numbers and strings in lists, whatever carried them, so that a graph's tensor equals the number that eager Python returns."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, tf.RaggedTensor):
        return plain(value.to_list())
    if isinstance(value, tf.sparse.SparseTensor):
        return plain(tf.sparse.to_dense(value).numpy())
    if tf.is_tensor(value) or isinstance(value, tf.Variable):
        # A symbolic tensor that escaped its graph has no value: its repr shows that it is none.
        return plain(value.numpy()) if hasattr(value, "numpy") else repr(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex):
        return [value.real, value.imag]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return f"<{type(value).__name__}>"


def load(main: Path) -> ModuleType:
    """Import the program's entry file as a module that is not `__main__`."""
    sys.path.insert(0, str(main.parent))
    name = main.stem if main.stem.isidentifier() else "program"
    spec = importlib.util.spec_from_file_location(name, main)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def count_traces(folder: str) -> list[int]:
    """Count from now on every tracing of a tf.function whose Python function is defined below `folder`; the count is the one element of the result."""
    from tensorflow.python.eager.polymorphic_function import tracing_compilation
    from tensorflow.python.util import tf_decorator

    count = [0]
    original = tracing_compilation._create_concrete_function

    def counted(function_type: Any, type_context: Any, func_graph: Any, tracing_options: Any) -> Any:
        _, target = tf_decorator.unwrap(tracing_options.python_function)
        target = getattr(target, "__func__", target)
        code = getattr(getattr(target, "__wrapped__", target), "__code__", None)
        if code is not None and code.co_filename.startswith(folder):
            count[0] += 1
        return original(function_type, type_context, func_graph, tracing_options)

    tracing_compilation._create_concrete_function = counted
    return count


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run one program in this process: import it and call `drive()`, twice."""
    random.seed(0)
    np.random.seed(0)
    tf.random.set_seed(0)
    if job["mode"] == "eager":
        tf.config.run_functions_eagerly(True)
        tf.data.experimental.enable_debug_mode()
    main = Path(job["main"])
    traces = count_traces(str(main.parent))
    results: list[Any] = []
    try:
        module = load(main)
        if hasattr(module, "drive"):  # a rule's example is a script without it
            for _ in range(job["calls"]):
                results.append(plain(module.drive()))
    except BaseException as error:
        classes = [cls.__name__ for cls in type(error).__mro__ if cls not in (BaseException, object)]
        return {"status": "raised", "classes": classes, "message": str(error), "trace": traceback.format_exc(), "results": results, "traces": traces[0]}
    return {"status": "ok", "results": results, "traces": traces[0]}


def child(job: dict[str, Any], folder: str) -> None:
    """Everything the child process does: its output goes to files in `folder`, which is also its working directory."""
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDONLY)
    log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    work = os.path.join(folder, "work")
    os.mkdir(work)
    os.chdir(work)
    answer = run(job)
    sys.stdout.flush()
    sys.stderr.flush()
    Path(folder, "answer.json").write_text(json.dumps(answer), "utf-8")


class Running:
    """A child at work on a job."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.folder = tempfile.TemporaryDirectory(prefix="proof-")
        self.started = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                child(job, self.folder.name)
                code = 0
            finally:
                os._exit(code)  # no exit handlers: those belong to the server

    def poll(self) -> dict[str, Any] | None:
        """The answer when the child has ended or has run out of time, otherwise None."""
        done, status = os.waitpid(self.pid, os.WNOHANG)
        seconds = time.monotonic() - self.started
        timed_out = not done and seconds > self.job["limit"]
        if not done and not timed_out:
            return None
        if timed_out:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        folder = Path(self.folder.name)
        answer: dict[str, Any]
        if timed_out:
            answer = {"status": "timeout"}
        elif (folder / "answer.json").exists():
            answer = json.loads((folder / "answer.json").read_text("utf-8"))
        else:
            answer = {"status": "died", "message": f"wait status {status}"}
        log = (folder / "log").read_text("utf-8", "replace") if (folder / "log").exists() else ""
        self.folder.cleanup()
        return {**answer, "key": self.job["key"], "mode": self.job["mode"], "seconds": seconds, "log": log[-20000:]}


def serve() -> None:
    """Work through the jobs on standard input, `workers` at a time."""
    request = json.loads(sys.stdin.readline())
    waiting = list(reversed(request["jobs"]))
    running: list[Running] = []
    while waiting or running:
        while waiting and len(running) < request["workers"]:
            sys.stdout.flush()
            running.append(Running(waiting.pop()))
        time.sleep(0.02)
        for process in list(running):
            answer = process.poll()
            if answer is not None:
                running.remove(process)
                print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
