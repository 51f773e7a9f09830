"""NumPy arrays as tensors of tandem_c.h, and back."""
import ctypes

import numpy as np

from tandem._errors import invalid_argument
from tandem._library import Tensor, check, lib

DTYPES = {1: np.dtype(np.float32), 2: np.dtype(np.float64), 3: np.dtype(np.int32), 4: np.dtype(np.int64),
          5: np.dtype(np.uint8), 6: np.dtype(np.bool_)}
_NUMBERS = {dtype: number for number, dtype in DTYPES.items()}


def shape_of(tensor):
    return tuple(tensor.shape[i] for i in range(tensor.rank))


def tensor_of(name, array):
    """Returns the tensor of a contiguous array, whose memory it refers to, and what has to live as long."""
    number = _NUMBERS.get(array.dtype)
    if number is None:
        raise invalid_argument("input \"%s\" is an array of %s; there are %s" %
                               (name, array.dtype, ", ".join(str(d) for d in DTYPES.values())))
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    tensor = Tensor(name.encode(), number, array.ndim, shape, array.ctypes.data, array.nbytes)
    return tensor, (array, shape)


def take_arrays(handle):
    """Returns the arrays of a tandem_tensors by name, as copies, and frees it."""
    try:
        arrays = {}
        for i in range(lib.tandem_tensors_size(handle)):
            tensor = Tensor()
            check(lib.tandem_tensors_get(handle, i, ctypes.byref(tensor)))
            array = np.empty(shape_of(tensor), DTYPES[tensor.dtype])
            if tensor.bytes:
                ctypes.memmove(array.ctypes.data, tensor.data, tensor.bytes)
            arrays[tensor.name.decode()] = array
        return arrays
    finally:
        lib.tandem_tensors_free(handle)
