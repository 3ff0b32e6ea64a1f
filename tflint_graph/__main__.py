"""`python -m tflint_graph` is the command `tflint-graph`."""

from __future__ import annotations

import sys

from tflint_graph.cli import main

if __name__ == "__main__":
    sys.exit(main())
