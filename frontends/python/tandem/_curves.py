"""What trainings and evaluations have recorded."""
import collections
import ctypes
import os
import warnings

import numpy as np

from tandem._library import CurveView, check, lib, new_handle

# Numbers by step: arrays int64[n] and float64[n], in the order of the steps.
Curve = collections.namedtuple("Curve", ["steps", "values"])


def curves(path):
    """Reads event files and records of evaluations.

    Args:
      path: a model_dir, or a folder of several.
    Returns:
      Curves by (part, tag), such as ("", "loss") for the training and ("eval", "accuracy") for an evaluation; of a
      folder of several model_dirs by (run, part, tag). Damaged files are left out, with a warning.
    Raises:
      TandemError: the folder does not exist or has no records, or nothing of it can be read.
    """
    handle = new_handle(lib.tandem_curves_read, os.fsencode(path))
    try:
        damage = lib.tandem_curves_damage(handle).decode("utf-8", "replace")
        if damage:
            warnings.warn(damage.rstrip("\n"), stacklevel=2)
        views = [CurveView() for _ in range(lib.tandem_curves_size(handle))]
        for i, view in enumerate(views):
            check(lib.tandem_curves_get(handle, i, ctypes.byref(view)))
        runs = {view.run for view in views}
        return {_key(view, len(runs) > 1): _curve(view) for view in views}
    finally:
        lib.tandem_curves_free(handle)


def _key(view, with_run):
    part_and_tag = (view.part.decode(), view.tag.decode())
    return (view.run.decode(),) + part_and_tag if with_run else part_and_tag


def _curve(view):
    if view.size == 0:
        return Curve(np.empty(0, np.int64), np.empty(0))
    return Curve(np.ctypeslib.as_array(view.steps, (view.size,)).copy(),
                 np.ctypeslib.as_array(view.values, (view.size,)).copy())
