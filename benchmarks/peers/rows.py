"""What is measured: the rows (a model at a batch size), who takes part, and the bars."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Peer:
    environment: str  # the virtual environment that `setup` makes
    script: str
    variant: str
    precision: str = "float32"  # what it computes in; "tf32": float32, rounded to TensorFloat-32 for products
    device: str = "cpu"

    @property
    def bf16(self):
        return self.precision == "bfloat16"


PEERS = {
    "tf.estimator": Peer("tensorflow", "worker_estimator.py", "plain"),
    "tf.estimator mirrored": Peer("tensorflow", "worker_estimator.py", "mirrored"),
    "tf.estimator bf16": Peer("tensorflow", "worker_estimator.py", "bf16", "bfloat16"),
    "torch eager": Peer("torch", "worker_torch.py", "eager"),
    "torch channels_last": Peer("torch", "worker_torch.py", "channels_last"),
    "torch compile": Peer("torch", "worker_torch.py", "compile"),
    "torch bf16": Peer("torch", "worker_torch.py", "bf16", "bfloat16"),
    "torch compile bf16": Peer("torch", "worker_torch.py", "compile_bf16", "bfloat16"),
    "jax": Peer("jax", "worker_jax.py", "jit"),
    "jax bf16": Peer("jax", "worker_jax.py", "bf16", "bfloat16"),
    # On a GPU: "graphs" replays a whole step as one CUDA graph, "compile" lets torch.compile make its own.
    "torch gpu eager": Peer("torch", "worker_torch.py", "eager", device="gpu"),
    "torch gpu channels_last": Peer("torch", "worker_torch.py", "channels_last", device="gpu"),
    "torch gpu compile": Peer("torch", "worker_torch.py", "compile", device="gpu"),
    "torch gpu graphs": Peer("torch", "worker_torch.py", "graphs", device="gpu"),
    "jax gpu": Peer("jax", "worker_jax.py", "jit", device="gpu"),
    "torch gpu bf16": Peer("torch", "worker_torch.py", "bf16", "bfloat16", device="gpu"),
    "torch gpu compile bf16": Peer("torch", "worker_torch.py", "compile_bf16", "bfloat16", device="gpu"),
    "torch gpu graphs bf16": Peer("torch", "worker_torch.py", "graphs_bf16", "bfloat16", device="gpu"),
    "torch gpu compile tf32": Peer("torch", "worker_torch.py", "compile_tf32", "tf32", device="gpu"),
    "torch gpu graphs tf32": Peer("torch", "worker_torch.py", "graphs_tf32", "tf32", device="gpu"),
    "jax gpu tf32": Peer("jax", "worker_jax.py", "tf32", "tf32", device="gpu"),
    "jax gpu bf16": Peer("jax", "worker_jax.py", "bf16", "bfloat16", device="gpu"),
    # Rows that read files: times of the processor, in one thread.
    "tf.data": Peer("tensorflow", "worker_tfdata.py", "plain", device="input"),
}

# Name -> flags of model_bench. The first is the one that peers are compared with.
TANDEM = {
    "tandem": [],
    "tandem direct": ["--precision=strict_float32"],
    "tandem bf16": ["--precision=mixed_bfloat16"],
    "tandem 1 thread": ["--threads=1"],
    "tandem 2 devices": ["--devices=cpu:0,cpu:1"],
}
# The same for rows on a GPU, by their precision. In float32 nobody there rounds to TensorFloat-32.
TANDEM_GPU = {
    "float32": {"tandem": ["--devices=gpu:0", "--precision=strict_float32"]},
    "tf32": {"tandem": ["--devices=gpu:0", "--tf32"]},
    "bfloat16": {"tandem": ["--devices=gpu:0", "--precision=mixed_bfloat16"]},
}
# The same of input_bench for rows that read files.
TANDEM_INPUT = {
    "tandem": [],
    "tandem scaled": ["--scaled"],
}
IMAGES_ONLY = {"torch channels_last", "torch gpu channels_last"}  # the same as "torch eager" for models without images


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    model: str
    batch: int
    tandem: tuple = ("tandem",)
    bf16: bool = False  # also peers in bfloat16
    precision: str = "float32"  # of Tandem, and of all peers but those
    images: bool = True
    turn_seconds: float = 0.4  # of one worker in one round; at least one step
    max_rounds: int = 1000  # where a step takes seconds, so that a run with the defaults ends within 20 minutes
    tokens: int = 0  # of an example of the Transformer; 0: its own number
    skip: tuple = ()  # peers that are known to be much slower than others and would take minutes
    device: str = "cpu"

    def peers(self):
        return [n for n, p in PEERS.items() if p.device == self.device and n not in self.skip and
                (p.precision == self.precision or (p.bf16 and self.bf16)) and
                (self.images or n not in IMAGES_ONLY)]

    @property
    def yardstick(self):
        """The worker that measures what the machine can do: a matmul on CPUs, a matmul and a copy on a GPU."""
        return {"cpu": "matmul", "gpu": "roofline", "input": None}[self.device]

    @property
    def tandem_variants(self):
        return {"cpu": TANDEM, "gpu": TANDEM_GPU[self.precision], "input": TANDEM_INPUT}[self.device]


_JAX = ("jax", "jax bf16")


def _input(pipeline, batch=256, scaled=False):
    return Row("input_" + pipeline, pipeline, batch, ("tandem", "tandem scaled") if scaled else ("tandem",),
               device="input")


ROWS = {row.name: row for row in (
    Row("s0", "s0", 512, ("tandem", "tandem direct", "tandem bf16", "tandem 1 thread", "tandem 2 devices"), bf16=True),
    Row("s0_64", "s0", 64),
    Row("s4", "s4", 64),
    Row("s2", "s2", 128, ("tandem", "tandem direct"), skip=_JAX),
    Row("linear", "linear", 32, images=False, turn_seconds=0.1),
    Row("mlp", "mlp", 128, images=False),
    Row("vgg16", "vgg16", 8, ("tandem", "tandem direct"), skip=_JAX, max_rounds=3),
    Row("vgg16_all", "vgg16_all", 8, skip=(*_JAX, "torch eager", "torch compile"), max_rounds=3),
    Row("resnet50", "resnet50", 16, ("tandem", "tandem bf16"), bf16=True, skip=(*_JAX, "torch compile bf16"),
        max_rounds=3),
    Row("transformer", "transformer", 16, images=False),
    *(Row(f"gpu_{name}{suffix}", model, batch, precision=precision, images=model != "transformer", device="gpu",
          tokens=2048 if name.endswith("2048") else 0)
      for name, model, batch in (("s0", "s0", 512), ("s0_4096", "s0", 4096), ("resnet50", "resnet50", 256),
                                 ("transformer", "transformer", 512), ("transformer_2048", "transformer", 16))
      for precision, suffix in (("bfloat16", "_bf16"), ("tf32", "_tf32"), ("float32", ""))),
    _input("tfrecord"), _input("parse"), _input("interleave"), _input("text"), _input("csv"),
    _input("jpeg_grey_50", 16, scaled=True), _input("jpeg_grey_90", 16, scaled=True),
    _input("jpeg_colour_90", 16, scaled=True),
)}


def names_of(device):
    return [name for name, row in ROWS.items() if row.device == device]

# Peers whose workers train together, in `two_workers`.
TOGETHER = {
    "tf.estimator": Peer("tensorflow", "worker_estimator.py", "plain"),
    "tf.function": Peer("tensorflow", "worker_function.py", "loop"),
    "torch eager": Peer("torch", "worker_torch.py", "eager"),
    "torch channels_last": Peer("torch", "worker_torch.py", "channels_last"),
}


@dataclasses.dataclass(frozen=True)
class RowTogether:
    """Two workers of one thread each, against the fastest peer."""
    text: str
    model: str
    batch: int  # of each worker
    at_least: float
    images: bool = True
    turn_seconds: float = 2  # at least one step

    def peers(self):
        return [n for n in TOGETHER if self.images or n not in IMAGES_ONLY]


ROWS_TOGETHER = {row.model: row for row in (
    RowTogether("S0", "s0", 512, at_least=2),
    RowTogether("S4", "s4", 64, at_least=2),
    RowTogether("MLP", "mlp", 64, at_least=2, images=False),
    RowTogether("ResNet-50", "resnet50", 8, at_least=1.2, turn_seconds=6),
)}


@dataclasses.dataclass(frozen=True)
class Bar:
    """`at_least` for a ratio or fraction, `at_most` for a time or size; of what `quantity` says (results.py)."""
    text: str
    row: str
    quantity: str
    at_least: float = None
    at_most: float = None


BARS = (
    Bar("S0 batch 512, without Winograd, against the fastest peer", "s0", "speedup direct", at_least=1.25),
    Bar("S0 batch 512, against the fastest peer", "s0", "speedup", at_least=1.6),
    Bar("S0 batch 512, without Winograd, of the matmul rate", "s0", "fraction direct", at_least=0.90),
    Bar("S0 batch 64, against the fastest peer", "s0_64", "speedup", at_least=1.8),
    Bar("S4 batch 64, against the fastest peer", "s4", "speedup", at_least=2),
    Bar("S2 batch 128, without Winograd, against the fastest peer", "s2", "speedup direct", at_least=1.05),
    Bar("S2 batch 128, against the fastest peer", "s2", "speedup", at_least=1.5),
    Bar("VGG16 batch 8, without Winograd, against the fastest peer", "vgg16", "speedup direct", at_least=1.0),
    Bar("VGG16 batch 8, against the fastest peer", "vgg16", "speedup", at_least=1.8),
    Bar("ResNet-50 batch 16, against the fastest peer", "resnet50", "speedup", at_least=1.3),
    Bar("Transformer, against the fastest peer", "transformer", "speedup", at_least=1.15),
    Bar("MLP, against the fastest peer", "mlp", "speedup", at_least=1.15),
    Bar("S0 bfloat16, against Tandem's float32", "s0", "bf16 gain", at_least=1.5),
    Bar("S0 bfloat16, against the fastest bfloat16 peer", "s0", "speedup bf16", at_least=2),
    Bar("ResNet-50 bfloat16, against Tandem's float32", "resnet50", "bf16 gain", at_least=1.5),
    Bar("ResNet-50 bfloat16, against the fastest bfloat16 peer", "resnet50", "speedup bf16", at_least=2),
    Bar("linear model, microseconds a step", "linear", "microseconds", at_most=8),
    Bar("linear model, against the fastest peer", "linear", "speedup", at_least=20),
    Bar("process start to first step, S0, cold, against tf.estimator", "startup", "speedup", at_least=10),
    Bar("peak resident memory, S0, of the leanest peer's", "s0", "memory", at_most=0.7),
    Bar("peak resident memory, ResNet-50, of the leanest peer's", "resnet50", "memory", at_most=0.7),
    Bar("S0 batch 512, two devices against one on the same cores", "s0", "two devices", at_least=0.97),
    Bar("S0 batch 512, two threads against one", "s0", "threads", at_least=1.9),
    *(Bar(f"GPU: {text} in {precision}, against the fastest peer", row + suffix, "speedup", at_least=at_least)
      for text, row in (("S0 batch 512", "gpu_s0"), ("S0 batch 4096", "gpu_s0_4096"),
                        ("ResNet-50 batch 256", "gpu_resnet50"), ("Transformer batch 512", "gpu_transformer"),
                        ("Transformer batch 16 with 2,048 tokens", "gpu_transformer_2048"))
      for precision, suffix, at_least in (("bfloat16", "_bf16", 1.2), ("TensorFloat-32", "_tf32", 1.2),
                                          ("float32", "", 1.0))),
    Bar("GPU: S0 batch 512 in bfloat16, microseconds of host time a step", "gpu_s0_bf16", "host microseconds",
        at_most=30),
    Bar("GPU: ResNet-50 batch 256 in bfloat16, of the time its memory traffic takes at the measured bandwidth",
        "gpu_resnet50_bf16", "bandwidth", at_least=0.6),
    Bar("TFRecord, read, against tf.data", "input_tfrecord", "speedup", at_least=2),
    Bar("TFRecord, read and parsed, against tf.data", "input_parse", "speedup", at_least=2),
    Bar("interleave, shuffle, batch and parse, against tf.data", "input_interleave", "speedup", at_least=2),
    Bar("lines of text, against tf.data", "input_text", "speedup", at_least=3),
    Bar("CSV, against tf.data", "input_csv", "speedup", at_least=3),
    Bar("JPEG, grey, 30 KB, against tf.data", "input_jpeg_grey_50", "speedup", at_least=1.3),
    Bar("JPEG, grey, 100 KB, against tf.data", "input_jpeg_grey_90", "speedup", at_least=1.3),
    Bar("JPEG, colour, 100 KB, against tf.data", "input_jpeg_colour_90", "speedup", at_least=1.3),
    Bar("GPU: S0 batch 4096, of its measured roofline", "gpu_s0_4096", "roofline", at_least=0.5),
)
