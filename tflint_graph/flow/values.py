"""Abstract values: what the flow analysis knows about a name or an expression, and why.

A value is one immutable `Value`. Certainty is built in: a field that is not known for certain is None (`shape`, `dtype`, `elements` ...) or, for one
dimension of a shape, ANY_DIM. A dimension of None is a dimension that TensorFlow itself does not know while tracing.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Any, Final


class Kind(enum.Enum):
    """What sort of thing a value is while TensorFlow traces."""

    TENSOR = "tensor"  # symbolic in a graph; an eager tensor where Value.eager
    VARIABLE = "variable"  # tf.Variable
    DATASET = "dataset"
    ITERATOR = "iterator"  # iter(dataset)
    TENSORARRAY = "tensorarray"
    PYTHON = "python"  # static while tracing; Value.pytype says which
    FUNCTION = "function"  # Value.ref: dotted API name, FunctionId, or the node of a local def/lambda
    CLASS = "class"  # Value.ref: dotted API name, ClassId or local class
    INSTANCE = "instance"  # of Value.ref
    MODULE = "module"  # Value.ref: dotted name or path
    UNKNOWN = "unknown"
    UNBOUND = "unbound"  # provably not bound


class Missing(enum.Enum):
    """Stands for 'no constant known', since None is a constant."""

    MISSING = 0


MISSING: Final = Missing.MISSING


class AnyDim(enum.Enum):
    """A dimension we do not know (TensorFlow may)."""

    ANY_DIM = 0


ANY_DIM: Final = AnyDim.ANY_DIM
Dim = int | None | AnyDim
Shape = tuple[Dim, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """Why a value is what it is: a phrase ("result of tf.reduce_sum"), where (path, 1-based line), and what that rests on."""

    text: str
    path: str
    line: int
    parent: Reason | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One abstract value.

    pytype     for PYTHON: the type's name: int, float, bool, str, bytes, complex, NoneType, list, tuple, dict, set, deque, range, slice, ndarray, npscalar,
               TensorShape, DType, generator, exception, object (some other object that is no tensor); None when only "not a tensor" is known
    const      the constant, for int, float, bool, str, bytes and None; the field names of a namedtuple (and of a class made by collections.namedtuple)
    dtype      TENSOR, VARIABLE, ndarray, TENSORARRAY: "float32" ...; None unknown
    shape      TENSOR, VARIABLE, ndarray, TensorShape: a tuple of Dim; None: rank unknown
    elements   list, tuple, set with a known length; also the outputs of structured tensors
    element    join of all elements where the length is unknown; for DATASET and ITERATOR what iterating yields; for dict the join of values
    items      dict displays: ((key constant, Value), ...) when all keys are known; INSTANCE: what its constructor stored under its fields
    ref        FUNCTION, CLASS, INSTANCE, MODULE: see Kind
    bound      FUNCTION: the value bound as first argument (a method's object); or None
    args/kwargs FUNCTION: arguments already bound by functools.partial
    traced     FUNCTION: True when it is a tf.function (decorated or wrapped)
    eager      TENSOR: made outside any graph, keeps .numpy()
    ragged     TENSOR: "ragged" or "sparse" when it certainly is
    maybe_unbound  a name that only some paths bind
    origin     the LibCST node that created a container, object or closure; None when it comes from elsewhere
    why        the reason, for messages
    """

    kind: Kind
    pytype: str | None = None
    const: Any = MISSING
    dtype: str | None = None
    shape: Shape | None = None
    elements: tuple[Value, ...] | None = None
    element: Value | None = None
    items: tuple[tuple[Any, Value], ...] | None = None
    ref: Any = None
    bound: Value | None = None
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    traced: bool = False
    eager: bool = False
    ragged: str | None = None
    maybe_unbound: bool = False
    origin: Any = None
    why: Reason | None = None

    @property
    def is_tensor(self) -> bool:
        """Certainly a symbolic or eager tensor (variables excluded)."""
        return self.kind is Kind.TENSOR

    @property
    def is_staged(self) -> bool:
        """As a condition, loop iterable or range() bound, AutoGraph turns it into graph control flow: a tensor or a variable."""
        return self.kind is Kind.TENSOR or self.kind is Kind.VARIABLE

    @property
    def is_symbolic(self) -> bool:
        """A tensor of the graph being traced (no eager constant from outside)."""
        return self.kind is Kind.TENSOR and not self.eager

    @property
    def is_dataset(self) -> bool:
        return self.kind is Kind.DATASET

    @property
    def is_python(self) -> bool:
        return self.kind is Kind.PYTHON

    @property
    def is_unknown(self) -> bool:
        return self.kind is Kind.UNKNOWN

    @property
    def is_none(self) -> bool:
        return self.kind is Kind.PYTHON and self.pytype == "NoneType"

    @property
    def is_container(self) -> bool:
        """Proved to be a Python list, tuple, dict, set or deque."""
        return self.kind is Kind.PYTHON and self.pytype in CONTAINERS

    @property
    def has_const(self) -> bool:
        return self.const is not MISSING

    def contains_tensor(self) -> bool:
        """A symbolic tensor, or a container that certainly holds one at some depth."""
        if self.kind is Kind.TENSOR:
            return not self.eager
        if self.elements is not None and any(v.contains_tensor() for v in self.elements):
            return True
        if self.items is not None and any(v.contains_tensor() for _, v in self.items):
            return True
        return self.kind is Kind.PYTHON and self.element is not None and self.element.contains_tensor()

    def because(self, text: str, path: str, line: int, parent: Reason | None = None) -> Value:
        """The same value with a new reason on top."""
        return replace(self, why=Reason(text, path, line, parent if parent is not None else self.why))


CONTAINERS = frozenset({"list", "tuple", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "namedtuple"})
UNKNOWN: Final = Value(Kind.UNKNOWN)
UNBOUND: Final = Value(Kind.UNBOUND)
PYTHON: Final = Value(Kind.PYTHON)
NONE: Final = Value(Kind.PYTHON, pytype="NoneType", const=None)
