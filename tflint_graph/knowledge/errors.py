"""Exception classes: what TensorFlow raises while it traces, and which handlers catch it.

Hierarchy as in TensorFlow 2.21 (tensorflow/python/framework/errors_impl.py, tensorflow/python/autograph/pyct/errors.py) and the language reference.
"""

from __future__ import annotations

from typing import Final

# Class -> its direct base. Canonical names; builtins without a prefix.
PARENT: Final[dict[str, str]] = {
    "tensorflow.errors.OperatorNotAllowedInGraphError": "TypeError",
    "tensorflow.errors.InaccessibleTensorError": "ValueError",
    "tensorflow.autograph.StagingError": "tensorflow.autograph.AutoGraphError",
    "tensorflow.autograph.ConversionError": "tensorflow.autograph.AutoGraphError",
    "tensorflow.autograph.AutoGraphError": "tensorflow.autograph.PyCTError",
    "tensorflow.autograph.PyCTError": "Exception",
    "tensorflow.errors.OpError": "Exception",
    "NotImplementedError": "RuntimeError",
    "RecursionError": "RuntimeError",
    "RuntimeError": "Exception",
    "UnboundLocalError": "NameError",
    "NameError": "Exception",
    "IndexError": "LookupError",
    "KeyError": "LookupError",
    "LookupError": "Exception",
    "UnicodeError": "ValueError",
    "ValueError": "Exception",
    "TypeError": "Exception",
    "AttributeError": "Exception",
    "AssertionError": "Exception",
    "StopIteration": "Exception",
    "ZeroDivisionError": "ArithmeticError",
    "OverflowError": "ArithmeticError",
    "FloatingPointError": "ArithmeticError",
    "ArithmeticError": "Exception",
    "OSError": "Exception",
    "ImportError": "Exception",
    "ModuleNotFoundError": "ImportError",
    "Exception": "BaseException",
    "KeyboardInterrupt": "BaseException",
    "SystemExit": "BaseException",
    "GeneratorExit": "BaseException",
} | {
    f"tensorflow.errors.{name}Error": "tensorflow.errors.OpError"
    for name in ["Aborted", "AlreadyExists", "Cancelled", "DataLoss", "DeadlineExceeded", "FailedPrecondition", "Internal", "InvalidArgument", "NotFound",
    "OutOfRange", "PermissionDenied", "ResourceExhausted", "Unauthenticated", "Unavailable", "Unimplemented", "Unknown"]
}  # fmt: skip

# The name that a handler may spell -> the class above.
SYNONYM: Final[dict[str, str]] = {
    "IOError": "OSError",
    "EnvironmentError": "OSError",
    "tensorflow.python.framework.errors.OperatorNotAllowedInGraphError": "tensorflow.errors.OperatorNotAllowedInGraphError",
    "tensorflow.python.framework.errors.InaccessibleTensorError": "tensorflow.errors.InaccessibleTensorError",
    "tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError": "tensorflow.errors.OperatorNotAllowedInGraphError",
    "tensorflow.python.framework.errors_impl.InaccessibleTensorError": "tensorflow.errors.InaccessibleTensorError",
    "tensorflow.python.autograph.impl.api.StagingError": "tensorflow.autograph.StagingError",
    "tensorflow.python.autograph.impl.api.AutoGraphError": "tensorflow.autograph.AutoGraphError",
}

# Rule code -> the classes that TensorFlow raises while tracing the fault. A rule in two lines of the source table has both.
RAISED_BY_RULE: Final[dict[str, tuple[str, ...]]] = {
    **{f"TFG{n}": ("tensorflow.errors.OperatorNotAllowedInGraphError",) for n in (*range(101, 112), 127, 128, 130, 131, 140, 141)},
    **{f"TFG{n}": ("tensorflow.errors.InaccessibleTensorError",) for n in (156, 157)},
    "TFG112": ("NameError", "UnboundLocalError"),
    "TFG121": ("NotImplementedError", "ValueError"),
    "TFG122": ("ValueError",),
    "TFG123": ("NotImplementedError", "ValueError"),
    "TFG124": ("ValueError",),
    "TFG125": ("ValueError",),
    "TFG126": ("TypeError", "ValueError"),
    "TFG127": ("tensorflow.errors.OperatorNotAllowedInGraphError", "ValueError"),
    "TFG129": ("NameError", "UnboundLocalError"),
    "TFG132": ("ValueError",),
    "TFG141": ("tensorflow.errors.OperatorNotAllowedInGraphError", "TypeError"),
    "TFG150": ("AttributeError", "NotImplementedError"),
    "TFG151": ("NotImplementedError", "TypeError"),
    "TFG152": ("tensorflow.errors.OperatorNotAllowedInGraphError", "TypeError"),
    "TFG153": ("TypeError", "ValueError"),
    "TFG154": ("TypeError",),
    "TFG155": ("TypeError",),
    "TFG158": ("ValueError",),
    "TFG203": ("TypeError", "ValueError"),
    "TFG306": ("TypeError",),
    "TFG307": ("TypeError",),
    "TFG501": ("ValueError",),
    "TFG504": ("tensorflow.autograph.StagingError",),
    "TFG505": ("TypeError",),
    "TFG506": ("AttributeError",),
    "TFG507": ("TypeError",),
}


def ancestry(name: str) -> tuple[str, ...]:
    """An exception class and its bases, nearest first. `name` as in PARENT or SYNONYM, "builtins." allowed; an unknown class has only itself."""
    name = name.removeprefix("builtins.")
    name = SYNONYM.get(name, name)
    found = [name]
    while (parent := PARENT.get(found[-1])) is not None:
        found.append(parent)
    return tuple(found)


def caught_by(raised: str, handler: str) -> bool:
    """Whether `except HANDLER` certainly catches an exception of class RAISED. A bare `except` is "BaseException"."""
    handler = handler.removeprefix("builtins.")
    return SYNONYM.get(handler, handler) in ancestry(raised)
