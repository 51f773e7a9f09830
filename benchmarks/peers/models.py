"""The benchmark models as data, the same networks as benchmarks/models: what the peers' workers build from.

Images are [height, width, channels]; every model ends in logits and a sparse softmax cross-entropy, but for "linear"
(mean squared error). Layers without `trainable` are trained.
"""
import dataclasses
from typing import Any, Optional


@dataclasses.dataclass(frozen=True)
class Conv:
    filters: int
    size: int = 3
    stride: int = 1
    padding: str = "valid"  # or "same", for odd sizes
    bias: bool = True
    relu: bool = True
    trainable: bool = True


@dataclasses.dataclass(frozen=True)
class BatchNorm:
    """Over all axes but the last; `decay` of the moving averages."""
    decay: float = 0.99
    epsilon: float = 1e-3
    relu: bool = False


@dataclasses.dataclass(frozen=True)
class MaxPool:
    size: int = 2
    stride: int = 2
    padding: str = "valid"


@dataclasses.dataclass(frozen=True)
class GlobalAveragePool:
    """Images to vectors: the mean over height and width."""


@dataclasses.dataclass(frozen=True)
class Flatten:
    pass


@dataclasses.dataclass(frozen=True)
class Dropout:
    rate: float


@dataclasses.dataclass(frozen=True)
class Dense:
    units: int
    relu: bool = False


@dataclasses.dataclass(frozen=True)
class Residual:
    """relu(body(x) + shortcut(x)); an empty shortcut is x itself."""
    body: tuple
    shortcut: tuple = ()


@dataclasses.dataclass(frozen=True)
class Embedding:
    """Token ids [sequence] to vectors [sequence, width]."""
    vocabulary: int
    width: int


@dataclasses.dataclass(frozen=True)
class Encoder:
    """One layer of a Transformer encoder in the original order (Vaswani et al. 2017), without dropout:
    x = norm(x + attention(x)), x = norm(x + dense(gelu(dense(x)))), with biases everywhere and the exact GELU."""
    heads: int
    hidden: int
    epsilon: float = 1e-5


@dataclasses.dataclass(frozen=True)
class MeanOverSequence:
    """[sequence, width] to [width]."""


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """`kind`: sgd, momentum (0.9), adam (0.9, 0.999, 1e-8) or rmsprop (0.9, epsilon 1e-7)."""
    kind: str
    rate: float


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    batch: int
    input_shape: tuple
    layers: tuple
    optimizer: Optimizer
    classes: Optional[int] = None  # None: mean squared error against [1]
    vocabulary: Optional[int] = None  # set: the input holds token ids below it


def _vgg16(size, all_layers):
    layers = []
    for block, (convolutions, filters) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512))):
        layers += [Conv(filters, padding="same", trainable=all_layers or block == 4)] * convolutions + [MaxPool()]
    return Model("vgg16_all" if all_layers else "vgg16", 8, (size, size, 3), tuple(layers + [Flatten(), Dense(4)]),
                 Optimizer("momentum", 1e-4), classes=4)


def _conv_norm(filters, size, stride, relu):
    return (Conv(filters, size, stride, "same", bias=False, relu=False), BatchNorm(0.9, 1e-5, relu))


def _resnet50(size):
    layers = [*_conv_norm(64, 7, 2, True), MaxPool(3, 2, "same")]
    for stage, blocks in enumerate((3, 4, 6, 3)):
        filters = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            body = (*_conv_norm(filters, 1, stride, True), *_conv_norm(filters, 3, 1, True),
                    *_conv_norm(4 * filters, 1, 1, False))
            layers.append(Residual(body, _conv_norm(4 * filters, 1, stride, False) if block == 0 else ()))
    return Model("resnet50", 16, (size, size, 3), (*layers, GlobalAveragePool(), Dense(1000)),
                 Optimizer("momentum", 1e-3), classes=1000)


_IMAGE = (28, 28, 1)


def make(name: str, image_size: int = 0, tokens: int = 0) -> Model:
    """The model called `name`; `image_size` is for vgg16 and resnet50 (0: 224), `tokens` for the
    Transformer (0: 128)."""
    size = image_size or 224
    if name == "vgg16":
        return _vgg16(size, False)
    if name == "vgg16_all":
        return _vgg16(size, True)
    if name == "resnet50":
        return _resnet50(size)
    if name == "transformer" and tokens:
        return dataclasses.replace(_SMALL[name], input_shape=(tokens,))
    return _SMALL[name]


_SMALL: dict[str, Any] = {m.name: m for m in (
    Model("s0", 512, _IMAGE, (Conv(32), MaxPool(), Conv(64), MaxPool(), Conv(64), Flatten(), Dense(64, relu=True),
                              Dense(10)), Optimizer("adam", 1e-3), classes=10),
    Model("s2", 128, _IMAGE, (Conv(32), Conv(256), BatchNorm(), Conv(128), MaxPool(), Dropout(0.25), Flatten(),
                              Dense(128, relu=True), Dropout(0.5), Dense(10)), Optimizer("rmsprop", 1e-3), classes=10),
    Model("s4", 64, _IMAGE, (Conv(32), MaxPool(), Flatten(), Dense(64, relu=True), Dense(10)),
          Optimizer("sgd", 1e-4), classes=10),
    Model("linear", 32, (1,), (Dense(1),), Optimizer("sgd", 0.2)),
    Model("mlp", 128, (784,), (Dense(1024, relu=True),) * 3 + (Dense(10),), Optimizer("momentum", 0.01), classes=10),
    Model("transformer", 16, (128,), (Embedding(8192, 256), Encoder(4, 1024), Encoder(4, 1024), MeanOverSequence(),
                                      Dense(10)), Optimizer("adam", 1e-3), classes=10, vocabulary=8192),
)}

NAMES = tuple(_SMALL) + ("vgg16", "vgg16_all", "resnet50")


def _walk(layers, shape):
    """The number of parameters (moving averages too) and the shape after the layers."""
    count = 0
    for layer in layers:
        if isinstance(layer, Conv):
            pad = layer.size - 1 if layer.padding == "same" else 0
            count += layer.size**2 * shape[2] * layer.filters + (layer.filters if layer.bias else 0)
            shape = tuple((d + pad - layer.size) // layer.stride + 1 for d in shape[:2]) + (layer.filters,)
        elif isinstance(layer, BatchNorm):
            count += 4 * shape[-1]
        elif isinstance(layer, MaxPool):
            pad = layer.size - 1 if layer.padding == "same" else 0
            shape = tuple((d + pad - layer.size) // layer.stride + 1 for d in shape[:2]) + shape[2:]
        elif isinstance(layer, (GlobalAveragePool, MeanOverSequence)):
            shape = shape[-1:]
        elif isinstance(layer, Flatten):
            total = 1
            for d in shape:
                total *= d
            shape = (total,)
        elif isinstance(layer, Dense):
            count += (shape[0] + 1) * layer.units
            shape = (layer.units,)
        elif isinstance(layer, Residual):
            body, after = _walk(layer.body, shape)
            count += body + _walk(layer.shortcut, shape)[0]
            shape = after
        elif isinstance(layer, Embedding):
            count += layer.vocabulary * layer.width
            shape = (shape[0], layer.width)
        elif isinstance(layer, Encoder):
            width = shape[1]
            count += 4 * (width + 1) * width + (width + 1) * layer.hidden + (layer.hidden + 1) * width + 4 * width
    return count, shape


def parameters(model: Model) -> int:
    """Variables of the model, without the optimizer's; workers and model_bench report the same number."""
    return _walk(model.layers, model.input_shape)[0]
