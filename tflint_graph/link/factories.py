"""Functions that give back functions defined in them: `def make_step(): ... return step`. What is given back is followed through the names bound to the
call."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from tflint_graph.index.model import FileIndex, FunctionId, Symbol
from tflint_graph.link.project import Project


class Factories:
    """The factories of some functions. All uses of a product can be seen when every call of its factory is bound to names, unpacked, or called at once."""

    def __init__(self, project: Project, products: Iterable[FunctionId]) -> None:
        self._project = project
        self._products: dict[FunctionId, set[FunctionId]] = {}
        self._calls: dict[FunctionId, set[tuple[str, Symbol]]] = {}
        self._followed: dict[FunctionId, set[tuple[str, Symbol]]] = {}
        self.names: set[str] = set()
        for product in products:
            entry = project.function(product)
            outer = project.files[product.path].functions.get(entry.scope) if entry is not None and ".<locals>." in product.qualname else None
            if outer is not None:
                self._products.setdefault(FunctionId(product.path, outer.qualname), set())
                self.names.add(outer.name)

    def gives_back(self, factory: FunctionId, product: FunctionId) -> bool:
        """Note that the factory returns the product. False when the two are strangers."""
        if factory not in self._products:
            return False
        self._products[factory].add(product)
        return True

    def read(self, index: FileIndex) -> None:
        """Note all calls of factories in a file, and which of them are followed."""
        if not self.names:
            return
        for entry in index.functions.values():
            for call in entry.calls:
                self._note(index.path, entry.qualname, call.symbol, self._calls)
                self._note(index.path, entry.qualname, call.symbol[1], self._followed)
            for symbols in entry.bindings.values():
                for symbol in symbols:
                    self._note_bound(index.path, entry.qualname, symbol)
            for decorator in entry.decorators:
                self._note(index.path, entry.scope, decorator, self._calls)
                self._note(index.path, entry.scope, decorator, self._followed)
        for cls in index.classes.values():
            for sites in cls.attributes.values():
                for scope, symbol in sites:
                    self._note_bound(index.path, scope, symbol)

    def _note_bound(self, path: str, scope: str, symbol: Symbol) -> None:
        if symbol is not None and symbol[0] == "item":
            symbol = symbol[1]
        self._note(path, scope, symbol, self._followed)
        if symbol is not None and symbol[0] == "call" and symbol[2]:  # self.step = tf.function(make_step())
            self._note(path, scope, symbol[2][0], self._followed)

    def _note(self, path: str, scope: str, symbol: Symbol, where: dict[FunctionId, set[tuple[str, Symbol]]]) -> None:
        if symbol is None or symbol[0] != "call":
            return
        callee = symbol[1]
        if callee is None or callee[0] not in ("name", "attr") or callee[-1] not in self.names:
            return
        for meaning in self._project.evaluator.value(path, scope, callee):
            if meaning.kind == "function" and meaning.target in self._products:
                where.setdefault(meaning.target, set()).add((path, symbol))

    def lost(self, used: Container[FunctionId]) -> Iterator[FunctionId]:
        """The products that go where they are not followed. `used` holds the functions that are read as values."""
        for factory, products in self._products.items():
            if factory in used or self._calls.get(factory, set()) - self._followed.get(factory, set()):
                yield from products
