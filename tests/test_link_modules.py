"""Which file an import means."""

from __future__ import annotations

import pytest

from tflint_graph.link.modules import Modules


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/p/pkg/__init__.py", "pkg"),
        ("/p/pkg/sub/a.py", "pkg.sub.a"),
        ("/p/src/lib/a.py", "lib.a"),
        ("/p/train.py", "train"),
        ("/p/examples/run.py", "examples.run"),
    ],
)
def test_names(path: str, name: str) -> None:
    paths = [
        "/p/pkg/__init__.py",
        "/p/pkg/sub/__init__.py",
        "/p/pkg/sub/a.py",
        "/p/src/lib/__init__.py",
        "/p/src/lib/a.py",
        "/p/train.py",
        "/p/examples/run.py",
    ]
    assert Modules("/p", paths).name(path) == name


FILES = [
    "pkg/__init__.py", "pkg/a.py", "pkg/utils.py", "pkg/random.py", "src/lib/__init__.py", "src/lib/a.py", "space/one/a.py", "space/two/__init__.py",
    "space/two/b.py",
    "scripts/train.py", "scripts/utils.py", "other/scripts/utils.py", "third/pkg/__init__.py", "third/pkg/a.py", "third/main.py", "keras/__init__.py",
    "keras/layers.py",
]  # fmt: skip


@pytest.mark.parametrize(
    ("dotted", "importer", "found"),
    [
        ("pkg.a", "scripts/train.py", "pkg/a.py"),
        ("pkg", "scripts/train.py", "pkg/__init__.py"),
        ("lib.a", "scripts/train.py", "src/lib/a.py"),
        ("space.one.a", "scripts/train.py", "space/one/a.py"),
        ("space.two.b", "scripts/train.py", "space/two/b.py"),
        ("two.b", "scripts/train.py", "space/two/b.py"),
        ("utils", "scripts/train.py", "scripts/utils.py"),
        ("pkg.a", "third/main.py", "third/pkg/a.py"),
        ("utils", "pkg/a.py", "pkg/utils.py"),
        ("random", "pkg/a.py", None),
        ("tensorflow", "pkg/a.py", None),
        ("keras.layers", "pkg/a.py", None),
        ("keras.layers", "keras/__init__.py", "keras/layers.py"),
        ("missing.a", "pkg/a.py", None),
    ],
)
@pytest.mark.parametrize("root", ["/p", "", "."])
def test_imports(dotted: str, importer: str, found: str | None, root: str) -> None:
    prefix = "/p/" if root == "/p" else ""
    modules = Modules(root, [prefix + path for path in FILES])
    assert modules.find(dotted, prefix + importer) == (prefix + found if found else None)


def test_windows_paths() -> None:
    modules = Modules("C:\\p", ["C:\\p\\pkg\\__init__.py", "C:\\p\\pkg\\a.py", "C:\\p\\main.py"])
    assert modules.find("pkg.a", "C:\\p\\main.py") == "C:\\p\\pkg\\a.py"
    assert modules.name("C:\\p\\pkg\\a.py") == "pkg.a"
