"""Checkpoints as mappings from names to arrays."""
import collections.abc
import ctypes
import os

from tandem import _arrays
from tandem._errors import TandemError
from tandem._library import Tensor, check, lib, new_handle


def checkpoint(path):
    """Opens a checkpoint, the newest one of a model_dir, or a single .safetensors file.

    Raises:
      TandemError: there is none, or it is damaged.
    """
    return Checkpoint(new_handle(lib.tandem_checkpoint_open, os.fsencode(path)))


class Checkpoint(collections.abc.Mapping):
    """An open checkpoint: the values of variables and of optimizer slots by name, each read when it is asked for.

    Attributes:
      path: the directory or file.
      global_step: its step; None for a single file.
      variables: the names of variables. `slots`: those of optimizer slots.
      shapes: the shape of every tensor, by name. `dtypes`: its type; None for one that cannot be read.
    """

    def __init__(self, handle):
        self._handle = handle
        self.path = os.fsdecode(lib.tandem_checkpoint_path(handle))
        step = lib.tandem_checkpoint_global_step(handle)
        self.global_step = None if step < 0 else step
        self.variables, self.slots, self.shapes, self.dtypes = [], [], {}, {}
        for i in range(lib.tandem_checkpoint_size(handle)):
            tensor, is_slot = Tensor(), ctypes.c_int32()
            check(lib.tandem_checkpoint_get(handle, i, ctypes.byref(tensor), ctypes.byref(is_slot)))
            name = tensor.name.decode()
            (self.slots if is_slot.value else self.variables).append(name)
            self.shapes[name] = _arrays.shape_of(tensor)
            self.dtypes[name] = _arrays.DTYPES.get(tensor.dtype)

    def __del__(self):
        if getattr(self, "_handle", None):
            lib.tandem_checkpoint_free(self._handle)

    def __repr__(self):
        return "Checkpoint(%r, %d variables, %d slots)" % (self.path, len(self.variables), len(self.slots))

    def __getitem__(self, name):
        try:
            tensors = new_handle(lib.tandem_checkpoint_read, self._handle, name.encode())
        except TandemError as error:
            if error.code == "NOT_FOUND":
                raise KeyError(error.message) from None
            raise
        return _arrays.take_arrays(tensors)[name]

    def __iter__(self):
        return iter(self.variables + self.slots)

    def __len__(self):
        return len(self.variables) + len(self.slots)
