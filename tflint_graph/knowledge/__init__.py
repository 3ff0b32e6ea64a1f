"""What TensorFlow, Keras, NumPy, math and the builtins do while TensorFlow traces: tables as data, and nothing that imports them.

`api`        what a call returns: `lookup("tensorflow.reduce_sum")`, `method("tensor", "numpy")`, `canonical(...)`, `is_subclass(...)`
`takers`     which functions take callbacks, at which parameter, and whether AutoGraph converts them
`autograph`  what builtins do on tensors and datasets
`numeric`    NumPy, math and operator calls on symbolic tensors: which raise, and what to write instead
`errors`     the exception classes that TensorFlow raises while tracing, and who catches them

The data files beside them are tab-separated text in the notation of `grammar`. `measured.txt`, `aliases.txt` and `numeric.txt` are written by
`generate.py` from the installed libraries (their versions stand in the first line); `checked.txt` and `methods.txt` are kept by hand and win over the
measured rows. `tests/test_knowledge.py` holds all of them against an installed TensorFlow. After an upgrade, run
`python -m tflint_graph.knowledge.generate` there and read the diff.
"""
