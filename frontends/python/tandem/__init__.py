"""Tandem from Python: predictions with NumPy arrays, checkpoints, curves of trainings, tools.

    import tandem
    model = tandem.load("exports")
    logits = model.predict({"image": images})["logits"]
    tandem.checkpoint("model_dir")["dense/kernel"]
    tandem.curves("model_dir")[("eval", "accuracy")]

It calls libtandem.so (tandem_c.h), which it finds beside itself, by the environment variable TANDEM_LIBRARY or where
the system's loader looks. Models are trained in C++.
"""
from tandem._checkpoint import Checkpoint, checkpoint
from tandem._curves import Curve, curves
from tandem._errors import TandemError
from tandem._model import Model, TensorSpec, load
from tandem._tools import run_tool

__all__ = [
    "Checkpoint", "Curve", "Model", "TandemError", "TensorSpec", "checkpoint", "curves", "load", "run_tool"
]
