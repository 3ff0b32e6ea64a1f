"""What parameters can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tflint_graph.index.model import ClassId, FunctionId, Symbol
from tflint_graph.knowledge.api import canonical
from tflint_graph.link.meanings import NOTHING, UNKNOWN, Environment, Meaning, Meanings, is_class_method, is_static

if TYPE_CHECKING:
    from tflint_graph.link.evaluator import Evaluator


class Parameters:
    """`arguments` holds what parameters are bound to at the calls that linking has looked at."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.arguments: dict[tuple[FunctionId, str], list[Meaning]] = {}

    def meaning(self, path: str, scope: str, name: str, env: Environment | None, depth: int) -> Meanings:
        """What a parameter can be: the object of a method, what its annotation says, what calls pass, and a function given as default."""
        if env is not None:
            given = env.get((path, scope, name))
            if given is not None:
                return given
        entry = self.evaluator.project.files[path].functions.get(scope)
        if entry is None:
            return NOTHING
        if entry.class_qualname is not None and entry.params and entry.params[0].name == name and not is_static(entry):
            cls = ClassId(path, entry.class_qualname)
            return (Meaning("class" if is_class_method(entry) else "instance", cls),)
        found: list[Meaning] = list(self.arguments.get((FunctionId(path, scope), name), ()))
        for param in entry.params:
            if param.name == name and param.kind in ("positional", "keyword"):
                annotated = self._annotated(path, entry.scope, param.annotation, depth)
                if annotated is not None:
                    found.append(annotated)
                    return tuple(found)
                if param.default is not None and param.default[0] in ("name", "attr", "lambda"):
                    found += [m for m in self.evaluator.value(path, entry.scope, param.default, None, depth + 1) if m.kind in ("function", "class")]
        return (*found, UNKNOWN)

    def _annotated(self, path: str, scope: str, annotation: Symbol, depth: int) -> Meaning | None:
        if annotation is None:
            return None
        if annotation[0] == "sub" and len(annotation) == 3:
            items = annotation[2]
            spelled = annotation[1][-1] if annotation[1] is not None else ""
            return self._annotated(path, scope, items[0], depth) if spelled == "Optional" and items else None
        if annotation[0] == "either":
            options = [a for a in annotation[1] if a is not None and a != ("const", None)]
            return self._annotated(path, scope, options[0], depth) if len(options) == 1 else None
        if annotation[0] not in ("name", "attr"):
            return None
        for meaning in self.evaluator.value(path, scope, annotation, None, depth + 1):
            if meaning.kind == "class":
                return Meaning("instance", meaning.target)
            if meaning.kind == "api":
                dotted = canonical(meaning.target)
                if dotted in ("tensorflow.data.Dataset", "tensorflow.compat.v1.data.Dataset"):
                    return Meaning("dataset", None)
                if dotted.startswith("tensorflow.distribute.") and dotted.endswith("Strategy"):
                    return Meaning("result", meaning.target)
        return None
