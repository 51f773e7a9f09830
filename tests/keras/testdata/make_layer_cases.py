"""Runs random configurations of Keras 2.15's layers (tensorflow-cpu 2.15) and writes what they computed.

  python3.11 -m venv v && v/bin/pip install 'tensorflow-cpu==2.15.*' safetensors
  v/bin/python make_layer_cases.py OUT_DIR

layer_cases.json has for each class the config of its first case and the list of all cases: what differs in the config,
shapes and types. layer_cases.safetensors has for each class all numbers of its cases one after another, float32. Of a
case, in this order, each tensor row-major:

  inputs; weights in Keras' order; the output; the gradients of inputs of floats; the gradients of trainable weights;
  in training, the weights that are not trained as the call leaves them.

Gradients are those of sum(output * factor) + sum(layer.losses); element i of factor, in row-major order, is
((37 i + 5) mod 23 - 11) / 8.
"""
import json, os, sys, zlib
os.environ.update(TF_CPP_MIN_LOG_LEVEL='3', CUDA_VISIBLE_DEVICES='')
import numpy as np
import tensorflow as tf
from keras.src.saving.legacy.saved_model import json_utils
from safetensors.numpy import save_file

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
L = tf.keras.layers
OUT = sys.argv[1] if len(sys.argv) > 1 else '.'
CASES = 20

ACTIVATIONS = ['linear', 'relu', 'sigmoid', 'tanh', 'softmax', 'elu', 'selu', 'softplus', 'softsign', 'swish', 'gelu',
               'hard_sigmoid', 'mish', 'exponential']
INITIALIZERS = ['glorot_uniform', 'he_normal', 'zeros', 'ones', 'random_normal', 'lecun_uniform', 'truncated_normal']


class Draw(np.random.RandomState):
    """Random sizes, options and tensors of one class."""

    def __init__(self, name):
        super().__init__(zlib.crc32(name.encode()))
        self.number = 0  # of the case

    def size(self, low, high):
        return int(self.randint(low, high + 1))

    def one(self, *values):
        return values[self.randint(len(values))]

    def real(self, low, high):
        return round(float(self.uniform(low, high)), 3)

    def floats(self, *shape):
        return self.normal(scale=1.5, size=shape).astype('f4')

    def shape(self, low, high, largest=4):
        """A shape of `low` to `high` dimensions, the batch's included; each number of them comes as often."""
        return tuple(self.size(1, largest) for _ in range(low + self.number % (high - low + 1)))

    def image(self, smallest=3):
        return self.floats(self.size(1, 3), self.size(smallest, 6), self.size(smallest, 6), self.size(1, 3))

    def activation(self):
        return ACTIVATIONS[self.number % len(ACTIVATIONS)]

    def regularizer(self):
        r = tf.keras.regularizers
        return self.one(None, None, lambda: r.L1(self.real(0, .1)), lambda: r.L2(self.real(0, .1)),
                        lambda: r.L1L2(self.real(0, .1), self.real(0, .1)))

    def common(self, kernels, activation=True):
        """Options of layers with weights: kernels are named `kernels` + "kernel" and so on."""
        made = lambda draw: draw() if draw else None
        options = {'use_bias': self.one(True, True, False), 'trainable': self.one(True, True, True, True, False)}
        options['bias_initializer'] = self.one('zeros', 'ones')
        for kernel in kernels:
            options[kernel + '_initializer'] = self.one(*INITIALIZERS)
            options[kernel + '_regularizer'] = made(self.regularizer())
        if activation:
            options['activation'] = self.activation()
            options['bias_regularizer'] = made(self.regularizer())
        return options

    def window(self, x, equal_strides=False):
        kernel = (self.size(1, 3), self.size(1, 3))
        strides = (self.size(1, 3), self.size(1, 3))
        if equal_strides:
            strides = (strides[0], strides[0])
        return {'kernel_size': kernel, 'strides': strides, 'padding': self.one('valid', 'same')}


def dense(d):
    x = d.floats(*d.shape(2, 4))
    return L.Dense(d.size(1, 5), **d.common(['kernel'])), [x]


def embedding(d):
    rows, dtype = d.size(2, 8), d.one('i4', 'i8')
    made = d.regularizer()
    shape = d.shape(1, 3, 5)
    length = d.one(None, shape[1]) if len(shape) == 2 else None
    layer = L.Embedding(rows, d.size(1, 5), embeddings_initializer=d.one(*INITIALIZERS), input_length=length,
                        embeddings_regularizer=made() if made else None, trainable=d.one(True, True, True, False))
    return layer, [d.randint(0, rows, size=shape).astype(dtype)]


def attention(d):
    x = d.floats(d.size(1, 3), d.size(1, 5), d.size(1, 5))
    layer = L.MultiHeadAttention(d.size(1, 3), d.size(1, 4), value_dim=d.one(None, d.size(1, 4)),
                                 dropout=d.one(0.0, 0.25), **d.common(['kernel'], activation=False))
    return layer, [x, x]


def dropout(d):
    rate, seed = d.one(0.0, d.real(.05, .95), d.real(.05, .95)), d.one(None, d.size(0, 99))
    return L.Dropout(rate, seed=seed), [d.floats(*d.shape(1, 4, 6))]


def spatial_dropout(d):
    return L.SpatialDropout2D(d.one(0.0, d.real(.05, .95), d.real(.05, .95))), [d.floats(3, 2, 3, d.size(1, 6))]


def conv(d):
    x = d.image()
    return L.Conv2D(d.size(1, 4), **d.window(x), **d.common(['kernel'])), [x]


def depthwise(d):
    x = d.image()
    layer = L.DepthwiseConv2D(depth_multiplier=d.size(1, 3), **d.window(x, True), **d.common(['depthwise']))
    return layer, [x]


def separable(d):
    x = d.image()
    layer = L.SeparableConv2D(d.size(1, 4), depth_multiplier=d.size(1, 3), **d.window(x, True),
                              **d.common(['depthwise', 'pointwise']))
    return layer, [x]


def pooling(layer):
    def draw(d):
        pool = d.one(d.size(1, 3), (d.size(1, 3), d.size(1, 3)))
        strides = d.one(None, d.size(1, 3), (d.size(1, 3), d.size(1, 3)))
        return layer(pool, strides, padding=d.one('valid', 'same')), [d.image()]
    return draw


def global_pooling(layer):
    return lambda d: (layer(keepdims=d.one(True, False)), [d.image(1)])


def up_sampling(d):
    return L.UpSampling2D(d.one(d.size(1, 3), (d.size(1, 3), d.size(1, 2)))), [d.floats(2, d.size(1, 3), 2, 2)]


def edges(layer, smallest):
    def draw(d):
        e = lambda: d.size(0, 2)
        return layer(d.one(e(), (e(), e()), ((e(), e()), (e(), e())))), [d.image(smallest)]
    return draw


def flatten(d):
    return L.Flatten(), [d.floats(*d.shape(1, 5))]


def identity(d):
    return L.Identity(), [d.floats(*d.shape(1, 5))]


def reshape(d):
    x = d.floats(*d.shape(2, 5))
    left, target = int(np.prod(x.shape[1:])), []
    for _ in range(d.size(0, 2)):
        target.append(d.one(*[n for n in range(1, left + 1) if left % n == 0]))
        left //= target[-1]
    target.insert(d.size(0, len(target)), d.one(left, -1))
    return L.Reshape(target), [x]


def permute(d):
    x = d.floats(*d.shape(2, 5))
    return L.Permute([int(i) + 1 for i in d.permutation(x.ndim - 1)]), [x]


def repeat(d):
    return L.RepeatVector(d.size(1, 5)), [d.floats(*d.shape(2, 2, 6))]


def norm_options(d, x):
    return {'axis': d.one(-1, x.ndim - 1), 'epsilon': d.one(1e-3, 1e-5, d.real(1e-3, .5)), 'center': d.one(True, False),
            'scale': d.one(True, False), 'trainable': d.one(True, True, True, False)}


def batch_norm(d):
    x = d.floats(d.size(2, 4), *d.shape(1, 4)) + d.floats(1)
    return L.BatchNormalization(momentum=d.one(.99, d.real(0, 1)), **norm_options(d, x)), [x]


def layer_norm(d):
    x = d.floats(*d.shape(1, 4), d.size(2, 5)) + d.floats(1)
    return L.LayerNormalization(**norm_options(d, x)), [x]


def merge(layer, most=3):
    def draw(d):
        shape, inputs = d.shape(1, 5), []
        for _ in range(2 if most == 2 else 2 + d.number % 2):
            own = list(shape)
            kind = d.size(0, 3)
            if kind == 0:  # sizes of 1 that are repeated
                own = own[:1] + [d.one(1, n) for n in own[1:]]
            elif kind == 1 and len(own) > 2:  # less dimensions
                own = own[:1] + own[d.size(2, len(own) - 1):]
            inputs.append(d.floats(*own))
        return layer(), inputs
    return draw


def concatenate(d):
    shape = d.shape(2, 4)
    axis = d.size(1, len(shape) - 1)
    inputs = [d.floats(*shape[:axis], d.size(1, 4), *shape[axis + 1:]) for _ in range(2 + d.number % 2)]
    return L.Concatenate(axis=d.one(axis, axis - len(shape))), inputs


def dot(d):
    batch, common = d.size(1, 3), d.size(1, 4)
    ranks, axes, inputs = [(2, 2), (2, 3), (3, 2), (3, 3)][d.number % 4], [], []
    for rank in ranks:
        axes.append(d.size(1, rank - 1))
        shape = [batch] + [d.size(1, 4) for _ in range(rank - 1)]
        shape[axes[-1]] = common
        inputs.append(d.floats(*shape))
    if axes[0] == axes[1] and d.size(0, 1):
        axes = axes[0]
    elif all(a == r - 1 for a, r in zip(axes, ranks)) and d.size(0, 1):
        axes = -1
    return L.Dot(axes, normalize=d.one(True, False)), inputs


def activation(d):
    return L.Activation(d.activation()), [2 * d.floats(*d.shape(2, 4))]


def relu(d):
    options = {'max_value': d.one(None, 6.0, d.real(0, 3)), 'negative_slope': d.one(0.0, d.real(0, 1)),
               'threshold': d.one(0.0, d.real(0, 2))}
    return L.ReLU(**options), [2 * d.floats(*d.shape(1, 4))]


def leaky_relu(d):
    return L.LeakyReLU(alpha=d.one(.3, 0.0, d.real(0, 1.5))), [d.floats(*d.shape(1, 4))]


def elu(d):
    return L.ELU(alpha=d.one(1.0, d.real(0, 2))), [2 * d.floats(*d.shape(1, 4))]


def softmax(d):
    x = 2 * d.floats(*d.shape(2, 5))
    return L.Softmax(axis=d.one(-1, x.ndim - 1)), [x]


def rescaling(d):
    shape, dtype = d.shape(1, 4), ['f4', 'u1', 'i4'][d.number % 3]
    x = d.floats(*shape) if dtype == 'f4' else d.randint(0, 256, size=shape).astype(dtype)
    return L.Rescaling(d.one(1 / 255., d.real(-2, 2)), d.one(0.0, d.real(-2, 2))), [x]


CLASSES = {
    'Dense': dense, 'Embedding': embedding, 'MultiHeadAttention': attention, 'Dropout': dropout,
    'SpatialDropout2D': spatial_dropout, 'Conv2D': conv, 'DepthwiseConv2D': depthwise, 'SeparableConv2D': separable,
    'MaxPooling2D': pooling(L.MaxPooling2D), 'AveragePooling2D': pooling(L.AveragePooling2D),
    'GlobalAveragePooling2D': global_pooling(L.GlobalAveragePooling2D),
    'GlobalMaxPooling2D': global_pooling(L.GlobalMaxPooling2D), 'UpSampling2D': up_sampling,
    'ZeroPadding2D': edges(L.ZeroPadding2D, 1), 'Cropping2D': edges(L.Cropping2D, 5), 'Flatten': flatten,
    'Identity': identity, 'Reshape': reshape, 'Permute': permute, 'RepeatVector': repeat,
    'BatchNormalization': batch_norm, 'LayerNormalization': layer_norm, 'Add': merge(L.Add),
    'Subtract': merge(L.Subtract, 2), 'Multiply': merge(L.Multiply), 'Average': merge(L.Average),
    'Maximum': merge(L.Maximum), 'Minimum': merge(L.Minimum), 'Concatenate': concatenate, 'Dot': dot,
    'Activation': activation, 'ReLU': relu, 'LeakyReLU': leaky_relu, 'ELU': elu, 'Softmax': softmax,
    'Rescaling': rescaling,
}


def factor(shape):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return (((37 * i + 5) % 23 - 11) / 8).astype('f4').reshape(shape)


def run(layer, inputs, training, d):
    """One case: its description, and its tensors in order."""
    shared = len(inputs) == 2 and inputs[0] is inputs[1]  # a sequence that attends to itself
    given = inputs[:1] if shared else inputs
    xs = [tf.constant(x) for x in given]
    call = lambda: layer(*(xs * 2 if shared else [xs if len(xs) > 1 else xs[0]]), training=training)
    if not layer.built:
        call()
        values = [d.normal(scale=.7, size=w.shape).astype('f4') for w in layer.weights]
        if isinstance(layer, L.BatchNormalization):
            values[-1] = np.abs(values[-1]) + np.float32(.1)
        layer.set_weights(values)
    before = layer.get_weights()
    floats = [x for x in xs if x.dtype == tf.float32]
    with tf.GradientTape() as tape:
        tape.watch(floats)
        y = call()
        loss = tf.reduce_sum(y * factor(y.shape)) + tf.add_n([tf.constant(0.)] + layer.losses)
    gradients = tape.gradient(loss, floats + layer.trainable_weights)
    assert y.dtype == tf.float32 and all(g is not None for g in gradients)
    tensors = [*given, *before, y.numpy(), *[tf.convert_to_tensor(g).numpy() for g in gradients]]
    if training:
        tensors += [w.numpy() for w in layer.non_trainable_weights]
    case = {'training': training, 'inputs': [[x.dtype.name, *x.shape] for x in given],
            'weights': [list(w.shape) for w in before], 'output': list(y.shape)}
    assert all(np.isfinite(t).all() for t in tensors)
    return case, [np.asarray(t, 'f4').ravel() for t in tensors]


def plain(config):
    """As a model file has it, without the name."""
    return json.loads(json.dumps({k: v for k, v in config.items() if k != 'name'}, default=json_utils.get_json_type))


def main():
    described, numbers = {}, {}
    for name, draw in CLASSES.items():
        d, base, seen, cases, values = Draw(name), None, set(), [], []
        while d.number < CASES:
            layer, inputs = draw(d)
            assert type(layer).__name__ == name, layer
            drawn = json.dumps([plain(layer.get_config()), [x.shape for x in inputs]])
            if drawn in seen:
                continue
            seen.add(drawn)
            d.number += 1
            for training in [False, True] if name == 'BatchNormalization' else [False]:
                case, tensors = run(layer, inputs, training, d)
                config = plain(layer.get_config())
                base = config if base is None else base
                assert config.keys() == base.keys()
                case['config'] = {key: value for key, value in config.items() if value != base[key]}
                cases.append(case)
                values += tensors
        described[name] = {'config': base, 'cases': cases}
        numbers[name] = np.concatenate(values)
    text = ',\n'.join(f'{json.dumps(name)}: {{"config": {json.dumps(one["config"])}, "cases": [\n  ' +
                      ',\n  '.join(json.dumps(case) for case in one['cases']) + ']}' for name, one in described.items())
    with open(os.path.join(OUT, 'layer_cases.json'), 'w', encoding='utf8') as f:
        f.write('{' + text + '}\n')
    save_file(numbers, os.path.join(OUT, 'layer_cases.safetensors'))


main()
