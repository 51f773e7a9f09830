"""JAX's side: one jitted training step with donated buffers, NHWC; "bf16" computes in bfloat16 with float32 weights.

On a GPU every step takes its batch from host memory, and float32 products use TensorFloat-32 in the variant "tf32"
only.
"""
import functools
import math

import protocol
from models import (BatchNorm, Conv, Dense, Dropout, Embedding, Encoder, Flatten, GlobalAveragePool, MaxPool,
                    MeanOverSequence, Residual)

CHANNEL = protocol.Channel()
ARGS = protocol.arguments(("jit", "bf16", "tf32"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

if ARGS.device == "gpu":
    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if ARGS.variant == "tf32" else "highest")
    if jax.default_backend() != "gpu":
        raise SystemExit("JAX finds no GPU")
RANDOM = np.random.default_rng(1)
COMPUTE = jnp.bfloat16 if ARGS.variant == "bf16" else jnp.float32


def weight(*shape):
    fan_in = math.prod(shape[:-1])
    return jnp.asarray(RANDOM.normal(0, math.sqrt(2 / fan_in), shape).astype(np.float32))


def init(layers, shape):
    """(trained, frozen, moving) per layer, as lists of dictionaries, and the shape behind the layers."""
    out = []
    for layer in layers:
        trained, frozen, moving = {}, {}, {}
        if isinstance(layer, Conv):
            own = trained if layer.trainable else frozen
            own["w"] = weight(layer.size, layer.size, shape[2], layer.filters)
            if layer.bias:
                own["b"] = jnp.zeros(layer.filters)
            pad = layer.size - 1 if layer.padding == "same" else 0
            shape = (*((d + pad - layer.size) // layer.stride + 1 for d in shape[:2]), layer.filters)
        elif isinstance(layer, BatchNorm):
            trained = {"gamma": jnp.ones(shape[-1]), "beta": jnp.zeros(shape[-1])}
            moving = {"mean": jnp.zeros(shape[-1]), "variance": jnp.ones(shape[-1])}
        elif isinstance(layer, MaxPool):
            pad = layer.size - 1 if layer.padding == "same" else 0
            shape = (*((d + pad - layer.size) // layer.stride + 1 for d in shape[:2]), shape[2])
        elif isinstance(layer, (GlobalAveragePool, MeanOverSequence)):
            shape = shape[-1:]
        elif isinstance(layer, Flatten):
            shape = (math.prod(shape),)
        elif isinstance(layer, Dense):
            trained = {"w": weight(shape[0], layer.units), "b": jnp.zeros(layer.units)}
            shape = (layer.units,)
        elif isinstance(layer, Residual):
            (body, after), (short, _) = init(layer.body, shape), init(layer.shortcut, shape)
            trained, frozen, moving = ({"body": [p[i] for p in body], "short": [p[i] for p in short]}
                                       for i in range(3))
            shape = after
        elif isinstance(layer, Embedding):
            trained = {"w": weight(layer.vocabulary, layer.width)}
            shape = (shape[0], layer.width)
        elif isinstance(layer, Encoder):
            width = shape[1]
            for name, i, o in (("qkv", width, 3 * width), ("out", width, width), ("up", width, layer.hidden),
                               ("down", layer.hidden, width)):
                trained[name + "_w"], trained[name + "_b"] = weight(i, o), jnp.zeros(o)
            for norm in ("norm1", "norm2"):
                trained[norm + "_gamma"], trained[norm + "_beta"] = jnp.ones(width), jnp.zeros(width)
        out.append((trained, frozen, moving))
    return out, shape


def layer_norm(x, gamma, beta, epsilon):
    x = x.astype(jnp.float32)
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean)**2).mean(-1, keepdims=True)
    return ((x - mean) * lax.rsqrt(variance + epsilon) * gamma + beta).astype(COMPUTE)


def encoder(layer, p, x):
    def dense(name, x):
        return x @ p[name + "_w"].astype(COMPUTE) + p[name + "_b"].astype(COMPUTE)
    b, s, width = x.shape
    q, k, v = (a.reshape(b, s, layer.heads, -1) for a in jnp.split(dense("qkv", x), 3, axis=-1))
    attention = jax.nn.dot_product_attention(q, k, v).reshape(b, s, width)
    x = layer_norm(x + dense("out", attention), p["norm1_gamma"], p["norm1_beta"], layer.epsilon)
    y = dense("down", jax.nn.gelu(dense("up", x), approximate=False))
    return layer_norm(x + y, p["norm2_gamma"], p["norm2_beta"], layer.epsilon)


def forward(layers, trained, frozen, moving, x, key):
    """The output and the new moving averages."""
    new_moving = []
    for i, (layer, t, f, m) in enumerate(zip(layers, trained, frozen, moving)):
        after = {}
        if isinstance(layer, Conv):
            p = t if layer.trainable else f
            pad = layer.size // 2 if layer.padding == "same" else 0
            x = lax.conv_general_dilated(x, p["w"].astype(COMPUTE), (layer.stride, layer.stride), [(pad, pad)] * 2,
                                         dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = x + p["b"].astype(COMPUTE) if layer.bias else x
            x = jax.nn.relu(x) if layer.relu else x
        elif isinstance(layer, BatchNorm):
            wide = x.astype(jnp.float32)
            mean = wide.mean((0, 1, 2))
            variance = (wide**2).mean((0, 1, 2)) - mean**2
            after = {"mean": m["mean"] * layer.decay + mean * (1 - layer.decay),
                     "variance": m["variance"] * layer.decay + variance * (1 - layer.decay)}
            scale = lax.rsqrt(variance + layer.epsilon) * t["gamma"]
            x = (wide * scale + (t["beta"] - mean * scale)).astype(COMPUTE)
            x = jax.nn.relu(x) if layer.relu else x
        elif isinstance(layer, MaxPool):
            pad = layer.size // 2 if layer.padding == "same" else 0
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, layer.size, layer.size, 1),
                                  (1, layer.stride, layer.stride, 1), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        elif isinstance(layer, GlobalAveragePool):
            x = x.mean((1, 2))
        elif isinstance(layer, MeanOverSequence):
            x = x.mean(1)
        elif isinstance(layer, Flatten):
            x = x.reshape(x.shape[0], -1)
        elif isinstance(layer, Dropout):
            keep = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - layer.rate, x.shape)
            x = jnp.where(keep, x / (1 - layer.rate), 0).astype(COMPUTE)
        elif isinstance(layer, Dense):
            x = x @ t["w"].astype(COMPUTE) + t["b"].astype(COMPUTE)
            x = jax.nn.relu(x) if layer.relu else x
        elif isinstance(layer, Residual):
            body, after_body = forward(layer.body, t["body"], f["body"], m["body"], x, key)
            short, after_short = forward(layer.shortcut, t["short"], f["short"], m["short"], x, key)
            after = {"body": after_body, "short": after_short}
            x = jax.nn.relu(body + short)
        elif isinstance(layer, Embedding):
            x = t["w"].astype(COMPUTE)[x]
        elif isinstance(layer, Encoder):
            x = encoder(layer, t, x)
        else:
            raise TypeError(layer)
        new_moving.append(after)
    return x, new_moving


def update(spec, t, trained, slots, grads):
    """The optimizers' formulas are those of frontends/optimizers.h; `t` is 1 at the first step."""
    tree = functools.partial(jax.tree.map)
    if spec.kind == "sgd":
        return tree(lambda w, g: w - spec.rate * g, trained, grads), slots
    if spec.kind == "momentum":
        a = tree(lambda a, g: 0.9 * a + g, slots[0], grads)
        return tree(lambda w, a: w - spec.rate * a, trained, a), (a,)
    if spec.kind == "rmsprop":
        s = tree(lambda s, g: 0.9 * s + 0.1 * g * g, slots[0], grads)
        return tree(lambda w, g, s: w - spec.rate * g / (jnp.sqrt(s) + 1e-7), trained, grads, s), (s,)
    m = tree(lambda m, g: 0.9 * m + 0.1 * g, slots[0], grads)
    v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, slots[1], grads)
    alpha = spec.rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return tree(lambda w, m, v: w - alpha * m / (jnp.sqrt(v) + 1e-8), trained, m, v), (m, v)


def main():
    model = ARGS.model
    parts, _ = init(model.layers, model.input_shape)
    trained, frozen, moving = ([p[i] for p in parts] for i in range(3))
    count = sum(a.size for a in jax.tree.leaves((trained, frozen, moving)))
    zeros = jax.tree.map(jnp.zeros_like, trained)
    slots = {"sgd": (), "momentum": (zeros,), "rmsprop": (zeros,),
             "adam": (zeros, jax.tree.map(jnp.zeros_like, trained))}[model.optimizer.kind]
    host = protocol.random_batch(model, ARGS.batch)
    x, y = (jax.device_put(a) for a in host)

    def loss_of(trained, frozen, moving, x, y, key):
        x = x if model.vocabulary else x.astype(COMPUTE)
        out, new_moving = forward(model.layers, trained, frozen, moving, x, key)
        out = out.astype(jnp.float32)
        if model.classes is None:
            return jnp.mean((out - y)**2), new_moving
        return -jnp.take_along_axis(jax.nn.log_softmax(out), y[:, None], axis=1).mean(), new_moving

    @functools.partial(jax.jit, donate_argnums=(0, 1, 3))
    def step(trained, slots, frozen, moving, t, x, y):
        key = jax.random.fold_in(jax.random.key(1), t)
        (loss, moving), grads = jax.value_and_grad(loss_of, has_aux=True)(trained, frozen, moving, x, y, key)
        trained, slots = update(model.optimizer, t.astype(jnp.float32), trained, slots, grads)
        return trained, slots, moving, t + 1, loss

    state = [trained, slots, moving, jnp.asarray(1)]

    def run(steps):
        for _ in range(steps):
            batch = (x, y) if ARGS.device == "cpu" else jax.device_put(host)
            *state[:], loss = step(state[0], state[1], frozen, state[2], state[3], *batch)
        return float(jax.block_until_ready((state, loss))[1])

    protocol.serve(CHANNEL, ARGS, run, count)


main()
