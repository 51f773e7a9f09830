"""What reads StableHLO in the package jax, by private interfaces of JAX 0.10.2: XLA on a CPU, StableHLO's own
interpreter, and libtpu, which compiles for a TPU that need not be there."""
import os

# Before jax is read. libtpu would ask a cloud for its settings, write logs, and keep a second process out.
os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
                  ALLOW_MULTIPLE_LIBTPU_LOAD="1", TPU_LOG_DIR="disabled")
import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jaxlib import _jax  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402

jax.config.update("jax_enable_x64", True)  # or int64 becomes int32
ELEMENTS = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "i1", "uint8": "ui8"}


def by_xla(text, arguments):
    """The results of @main."""
    device = jax.devices()[0]
    executable = device.client.compile_and_load(text.encode(), _jax.DeviceList((device,)), xla_client.CompileOptions())
    results = executable.execute_sharded([jax.device_put(np.array(argument)) for argument in arguments])
    return [np.asarray(result[0]) for result in results.disassemble_into_single_device_arrays()]


def by_interpreter(text, arguments):
    """The same, an element after the other: for small models."""
    with jax_mlir.make_ir_context():
        values = []
        for argument in map(np.ascontiguousarray, arguments):
            shape = "".join(f"{size}x" for size in argument.shape)
            kind = ir.Type.parse(f"tensor<{shape}{ELEMENTS[str(argument.dtype)]}>")
            values.append(ir.DenseElementsAttr.get(argument, type=ir.RankedTensorType(kind)))
        return [np.array(value) for value in stablehlo.eval_module(ir.Module.parse(text), values)]


def compile_for_tpu(text, topology):
    """`topology`: "v5e:2x2", of which one device is compiled for."""
    device = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices[0]
    options = xla_client.CompileOptions()
    options.device_assignment = xla_client.DeviceAssignment.create(np.array([[device.id]]))
    with jax_mlir.make_ir_context():
        device.client.compile(ir.Module.parse(text), _jax.DeviceList((device,)), options)
