"""TensorFlow's side in several workers, without Estimators: a Keras model, MultiWorkerMirroredStrategy, and a loop of
steps within one tf.function, as TensorFlow's guide to distributed training has it.

Knows the layers that rows of several workers have.
"""
import os

import protocol
from models import BatchNorm, Conv, Dense, Flatten, GlobalAveragePool, MaxPool, Residual

CHANNEL = protocol.Channel()
ARGS = protocol.arguments(("loop",))
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import tensorflow as tf  # noqa: E402

keras = tf.keras


def activation(layer):
    return "relu" if layer.relu else None


def build(layers, x):
    for layer in layers:
        if isinstance(layer, Conv):
            x = keras.layers.Conv2D(layer.filters, layer.size, layer.stride, layer.padding, use_bias=layer.bias,
                                    activation=activation(layer), trainable=layer.trainable)(x)
        elif isinstance(layer, BatchNorm):
            x = keras.layers.BatchNormalization(momentum=layer.decay, epsilon=layer.epsilon)(x)
            x = keras.layers.ReLU()(x) if layer.relu else x
        elif isinstance(layer, MaxPool):
            x = keras.layers.MaxPool2D(layer.size, layer.stride, layer.padding)(x)
        elif isinstance(layer, GlobalAveragePool):
            x = keras.layers.GlobalAveragePooling2D()(x)
        elif isinstance(layer, Flatten):
            x = keras.layers.Flatten()(x)
        elif isinstance(layer, Dense):
            x = keras.layers.Dense(layer.units, activation=activation(layer))(x)
        elif isinstance(layer, Residual):
            x = keras.layers.ReLU()(keras.layers.add([build(layer.body, x), build(layer.shortcut, x)]))
        else:
            raise TypeError(layer)
    return x


def make_optimizer(spec):
    if spec.kind == "adam":
        return keras.optimizers.Adam(spec.rate)
    return keras.optimizers.SGD(spec.rate, momentum={"sgd": 0.0, "momentum": 0.9}[spec.kind])


def main():
    tf.config.threading.set_intra_op_parallelism_threads(ARGS.threads)
    tf.config.threading.set_inter_op_parallelism_threads(ARGS.threads)
    keras.utils.set_random_seed(1)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    model = ARGS.model
    with strategy.scope():
        x = keras.Input(model.input_shape)
        net = keras.Model(x, build(model.layers, x))
        optimizer = make_optimizer(model.optimizer)
    batch = protocol.random_batch(model, ARGS.batch)
    batches = iter(strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.from_tensors(batch).repeat().prefetch(2)))

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            out = net(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out))
            scaled = loss / ARGS.workers  # the strategy adds the replicas' gradients
        weights = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(scaled, weights), weights))
        return loss

    @tf.function
    def loop(steps):
        loss = 0.0
        for _ in tf.range(steps):
            loss = strategy.run(replica_step, args=next(batches))
        return loss

    protocol.serve(CHANNEL, ARGS, lambda steps: float(loop(tf.constant(steps))), net.count_params())


main()
