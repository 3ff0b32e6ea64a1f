"""A linter for Python code that TensorFlow traces (tf.function and AutoGraph). It never imports TensorFlow.

`tflint_graph.analyse.analyse` is the one function behind the command line and the flake8 plugin.
"""

from __future__ import annotations

import os

__version__ = "0.1.0"

if not os.path.isdir(os.path.join(os.path.dirname(__file__), "rules")):
    # A checkout: `rules/` stands at the top of the repository, beside this package; only an installed package holds it.
    __path__.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
