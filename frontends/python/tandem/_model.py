"""Models that predict."""
import collections
import ctypes
import os

import numpy as np

from tandem import _arrays
from tandem._errors import invalid_argument
from tandem._library import LoadOptions, Tensor, check, lib, new_handle

# An input or output of a model. shape: None stands for the batch.
TensorSpec = collections.namedtuple("TensorSpec", ["name", "dtype", "shape"])


def load(path, threads=0, calls=0, use_moving_average=True):
    """Loads a trained model.

    Args:
      path: an exported model, a directory of several of which the newest is taken, a checkpoint, or a model_dir with its
        newest checkpoint.
      threads: number of threads of all calls together; 0: one for each core.
      calls: how many predictions may run at the same time; 0: as many as threads. More of them wait.
      use_moving_average: of a checkpoint, whether moving averages take the place of weights that have one.
    Raises:
      TandemError: there is no model, it is damaged, or this machine cannot run it.
    """
    options = LoadOptions(ctypes.sizeof(LoadOptions), threads, calls, not use_moving_average)
    return Model(new_handle(lib.tandem_load, os.fsencode(path), ctypes.byref(options)))


class Model:
    """A trained model with its weights in memory; tandem.load makes it. Several threads may call predict at once."""

    def __init__(self, handle):
        self._handle = handle
        self.inputs = self._specs(lib.tandem_model_num_inputs, lib.tandem_model_input)
        self.outputs = self._specs(lib.tandem_model_num_outputs, lib.tandem_model_output)
        self.global_step = lib.tandem_model_global_step(handle)
        self.path = os.fsdecode(lib.tandem_model_path(handle))
        self.metrics = self._metrics()

    def __del__(self):
        if getattr(self, "_handle", None):
            lib.tandem_model_free(self._handle)

    def __repr__(self):
        return "Model(%r, inputs=%r, outputs=%r)" % (self.path, list(self.inputs.values()),
                                                     list(self.outputs.values()))

    def predict(self, inputs):
        """Returns the model's outputs by name, for a batch of any number of rows.

        Args:
          inputs: arrays [rows, ...] by the names of `inputs`; or one array, for a model with one input. Contiguous
            arrays are passed on as they are. Nothing is converted to another type, except lists of numbers, which
            become arrays of the input's type.
        Raises:
          TandemError: an input is missing, unknown, or of another type or shape; the message says what is expected.
        """
        if not isinstance(inputs, dict):
            if len(self.inputs) != 1:
                raise invalid_argument("one array was given, and the model takes %s; give a dict" %
                                       ", ".join(self.inputs))
            inputs = {next(iter(self.inputs)): inputs}
        tensors, alive = (Tensor * max(len(inputs), 1))(), []
        for i, (name, value) in enumerate(inputs.items()):
            tensors[i], kept = _arrays.tensor_of(name, self._array(name, value))
            alive.append(kept)
        return _arrays.take_arrays(new_handle(lib.tandem_predict, self._handle, tensors, len(inputs)))

    def _array(self, name, value):
        if not isinstance(value, np.ndarray) and name in self.inputs:
            try:
                value = np.asarray(value, self.inputs[name].dtype)
            except (TypeError, ValueError) as error:
                raise invalid_argument("input \"%s\": %s" % (name, error)) from None
        return np.ascontiguousarray(value)

    def _specs(self, number, get):
        specs = {}
        for i in range(number(self._handle)):
            tensor = Tensor()
            check(get(self._handle, i, ctypes.byref(tensor)))
            shape = tuple(None if size < 0 else size for size in _arrays.shape_of(tensor))
            name = tensor.name.decode()
            specs[name] = TensorSpec(name, _arrays.DTYPES[tensor.dtype], shape)
        return specs

    def _metrics(self):
        metrics = {}
        for i in range(lib.tandem_model_num_metrics(self._handle)):
            name, value = ctypes.c_char_p(), ctypes.c_double()
            check(lib.tandem_model_metric(self._handle, i, ctypes.byref(name), ctypes.byref(value)))
            metrics[name.value.decode()] = value.value
        return metrics
