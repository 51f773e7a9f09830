"""libtandem.so: the functions of tandem_c.h that the other modules call. A call releases the GIL (ctypes does)."""
import ctypes
import os

from tandem._errors import TandemError

_VERSION = 1  # TANDEM_C_VERSION
_NAMES = ("libtandem.so.0.1", "libtandem_rt.so.0.1")


class Tensor(ctypes.Structure):
    """tandem_tensor"""
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class LoadOptions(ctypes.Structure):
    """tandem_load_options"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("calls", ctypes.c_int32),
                ("raw_weights", ctypes.c_int32)]


class CurveView(ctypes.Structure):
    """tandem_curve"""
    _fields_ = [("run", ctypes.c_char_p), ("part", ctypes.c_char_p), ("tag", ctypes.c_char_p),
                ("size", ctypes.c_size_t), ("steps", ctypes.POINTER(ctypes.c_int64)),
                ("values", ctypes.POINTER(ctypes.c_double))]


_HANDLE, _TEXT, _SIZE, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32
_OUT_HANDLE, _OUT_TENSOR = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Tensor)

# Each function's result and arguments; _HANDLE as the result of a function that can fail is its status.
_FUNCTIONS = {
    "tandem_c_version": (_INT, []),
    "tandem_status_code": (_INT, [_HANDLE]),
    "tandem_status_message": (_TEXT, [_HANDLE]),
    "tandem_status_exit_code": (_INT, [_HANDLE]),
    "tandem_status_free": (None, [_HANDLE]),
    "tandem_tensors_size": (_SIZE, [_HANDLE]),
    "tandem_tensors_get": (_HANDLE, [_HANDLE, _SIZE, _OUT_TENSOR]),
    "tandem_tensors_free": (None, [_HANDLE]),
    "tandem_load": (_HANDLE, [_TEXT, ctypes.POINTER(LoadOptions), _OUT_HANDLE]),
    "tandem_model_free": (None, [_HANDLE]),
    "tandem_model_num_inputs": (_SIZE, [_HANDLE]),
    "tandem_model_input": (_HANDLE, [_HANDLE, _SIZE, _OUT_TENSOR]),
    "tandem_model_num_outputs": (_SIZE, [_HANDLE]),
    "tandem_model_output": (_HANDLE, [_HANDLE, _SIZE, _OUT_TENSOR]),
    "tandem_model_global_step": (ctypes.c_int64, [_HANDLE]),
    "tandem_model_path": (_TEXT, [_HANDLE]),
    "tandem_model_num_metrics": (_SIZE, [_HANDLE]),
    "tandem_model_metric": (_HANDLE, [_HANDLE, _SIZE, ctypes.POINTER(_TEXT), ctypes.POINTER(ctypes.c_double)]),
    "tandem_predict": (_HANDLE, [_HANDLE, ctypes.POINTER(Tensor), _SIZE, _OUT_HANDLE]),
    "tandem_checkpoint_open": (_HANDLE, [_TEXT, _OUT_HANDLE]),
    "tandem_checkpoint_free": (None, [_HANDLE]),
    "tandem_checkpoint_path": (_TEXT, [_HANDLE]),
    "tandem_checkpoint_global_step": (ctypes.c_int64, [_HANDLE]),
    "tandem_checkpoint_size": (_SIZE, [_HANDLE]),
    "tandem_checkpoint_get": (_HANDLE, [_HANDLE, _SIZE, _OUT_TENSOR, ctypes.POINTER(_INT)]),
    "tandem_checkpoint_read": (_HANDLE, [_HANDLE, _TEXT, _OUT_HANDLE]),
    "tandem_curves_read": (_HANDLE, [_TEXT, _OUT_HANDLE]),
    "tandem_curves_free": (None, [_HANDLE]),
    "tandem_curves_size": (_SIZE, [_HANDLE]),
    "tandem_curves_get": (_HANDLE, [_HANDLE, _SIZE, ctypes.POINTER(CurveView)]),
    "tandem_curves_damage": (_TEXT, [_HANDLE]),
    "tandem_run_tool": (_HANDLE, [_TEXT, _SIZE, ctypes.POINTER(_TEXT), ctypes.POINTER(_INT)]),
}


def _open():
    """Opens the library that TANDEM_LIBRARY names, else one beside this package, else that of the installed folder
    that this package is in, else one that the loader finds."""
    chosen = os.environ.get("TANDEM_LIBRARY")
    here = os.path.dirname(os.path.abspath(__file__))  # PREFIX/share/tandem/python/tandem where Tandem is installed
    installed = os.path.normpath(os.path.join(here, "../../../../lib"))
    candidates = [chosen] if chosen else [os.path.join(folder, name) for folder in (here, installed)
                                          for name in _NAMES] + list(_NAMES)
    problems = []
    for path in candidates:
        if os.path.isabs(path) and not os.path.exists(path):
            problems.append("%s: not there" % path)
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            problems.append(str(error))
    raise ImportError("Tandem's library cannot be loaded (set TANDEM_LIBRARY to the path of libtandem.so): " +
                      "; ".join(problems))


def _load():
    library = _open()
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError("%s has no %s: it is older than this package" % (library._name, name))
        function.restype, function.argtypes = result, arguments
    if library.tandem_c_version() < _VERSION:
        raise ImportError("%s has version %d of tandem_c.h, and this package needs %d" %
                          (library._name, library.tandem_c_version(), _VERSION))
    return library


lib = _load()


def check(status):
    """Raises TandemError for a status that is not null."""
    if not status:
        return
    try:
        raise TandemError(lib.tandem_status_code(status),
                          lib.tandem_status_message(status).decode("utf-8", "replace"),
                          lib.tandem_status_exit_code(status))
    finally:
        lib.tandem_status_free(status)


def new_handle(function, *arguments):
    """Calls a function whose last argument is a pointer to a new handle, and returns that."""
    handle = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(handle)))
    return handle
