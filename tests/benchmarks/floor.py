"""How far a cold run is from the work that nobody can avoid.

usage: python tests/benchmarks/floor.py FOLDER [--ruff RUFF]

In one process, CPU time of
  run    `analyse` on the folder, without caches
  floor  reading every file + `ast.parse` of the files that were indexed + `libcst.parse_module` of the regions that were parsed (each distinct text once)
and, as another yardstick on the same files, of `ruff check --no-cache`. Ratios mean something on a noisy machine; single times do not.
"""

from __future__ import annotations

import argparse
import ast
import gc
import resource
import subprocess
import sys
import time
from pathlib import Path


def cpu(children: bool = False) -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--ruff", default="ruff")
    parser.add_argument("--limit", type=float, default=0.0, help="exit with 1 when run/floor is above this")
    args = parser.parse_args()

    import libcst

    from tflint_graph.analyse import Options, analyse
    from tflint_graph.link import loading
    from tflint_graph.source import region

    indexed: list[bytes] = []
    parsed: list[str] = []
    build, parse_module = loading.build_index, libcst.parse_module

    def build_index(path: str, module: str, data: bytes) -> object:
        indexed.append(data)
        return build(path, module, data)

    def parse(text: str) -> libcst.Module:
        parsed.append(text)
        return parse_module(text)

    loading.build_index = build_index  # type: ignore[assignment]
    region.cst.parse_module = parse  # type: ignore[assignment]
    gc.collect()
    gc.disable()  # as the command does
    start = cpu()
    report = analyse([args.folder], options=Options(isolated=True, use_cache=False))
    run = cpu() - start
    region.cst.parse_module = parse_module
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    start = cpu()
    for path in Path(args.folder).rglob("*.py"):
        path.read_bytes()
    reading = cpu() - start
    start = cpu()
    for data in indexed:
        ast.parse(data)
    trees = cpu() - start
    start = cpu()
    texts = dict.fromkeys(parsed)
    for text in texts:
        parse_module(text)
    regions = cpu() - start
    floor = reading + trees + regions
    print(
        f"files {report.summary.files}, indexed {len(indexed)}, regions parsed {len(parsed)} ({len(texts)} distinct), "
        f"findings {len(report.findings)}, peak memory {peak} MiB"
    )
    print(f"floor {floor:.2f} s = reading {reading:.2f} + ast.parse {trees:.2f} + libcst.parse_module {regions:.2f}")
    print(f"run   {run:.2f} s = {run / floor:.2f} times the floor")
    before, clock = cpu(children=True), time.monotonic()
    try:
        subprocess.run([args.ruff, "check", "--no-cache", "--isolated", "--exit-zero", "--quiet", args.folder], stdout=subprocess.DEVNULL, check=False)
        ruff = cpu(children=True) - before
        print(f"ruff  {ruff:.2f} s of CPU ({time.monotonic() - clock:.2f} s of time): the run took {run / ruff:.1f} times as much CPU")
    except FileNotFoundError:
        print("ruff is not installed")
    return 1 if args.limit and run > args.limit * floor else 0


if __name__ == "__main__":
    sys.exit(main())
