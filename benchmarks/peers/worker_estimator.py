"""TensorFlow's side: tf.estimator.Estimator.train, plain or with MirroredStrategy on two logical CPUs. Several workers:
tf.estimator.train_and_evaluate, which alone takes a MultiWorkerMirroredStrategy.

A hook stops between two steps until the driver asks for more; steps are timed inside it, so that everything that an
Estimator does in a step counts and nothing else. Summaries, logging and checkpoints within the run are off.
"""
import logging
import os
import tempfile
import time

import protocol
from models import (BatchNorm, Conv, Dense, Dropout, Embedding, Encoder, Flatten, GlobalAveragePool, MaxPool,
                    MeanOverSequence, Residual)

CHANNEL = protocol.Channel()
ARGS = protocol.arguments(("plain", "mirrored", "bf16"))
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
REPLICAS = 2 if ARGS.variant == "mirrored" else ARGS.workers
LOSS = "benchmark_loss"  # a collection of the graph
tf.get_logger().setLevel(logging.ERROR)


def activation(layer):
    return tf.nn.relu if layer.relu else None


def encoder(layer, x):
    width, heads = x.shape[2], layer.heads
    init = v1.glorot_uniform_initializer()

    def split(name):
        y = v1.layers.dense(x, width, name=name, kernel_initializer=init)
        return tf.transpose(tf.reshape(y, [-1, x.shape[1], heads, width // heads]), [0, 2, 1, 3])

    def norm(y, name):
        with v1.variable_scope(name):
            gamma = v1.get_variable("gamma", [width], initializer=v1.ones_initializer())
            beta = v1.get_variable("beta", [width], initializer=v1.zeros_initializer())
        mean, variance = tf.nn.moments(y, [-1], keepdims=True)
        return tf.nn.batch_normalization(y, mean, variance, beta, gamma, layer.epsilon)

    q, k, v = split("query"), split("key"), split("value")
    scores = tf.nn.softmax(tf.matmul(q * (width // heads)**-0.5, k, transpose_b=True))
    mixed = tf.reshape(tf.transpose(tf.matmul(scores, v), [0, 2, 1, 3]), [-1, x.shape[1], width])
    x = norm(x + v1.layers.dense(mixed, width, name="out"), "norm1")
    y = v1.layers.dense(x, layer.hidden, activation=lambda t: tf.nn.gelu(t, approximate=False), name="up")
    return norm(x + v1.layers.dense(y, width, name="down"), "norm2")


def build(layers, x, scope):
    for i, layer in enumerate(layers):
        name = f"{scope}{i}"
        if isinstance(layer, Conv):
            x = v1.layers.conv2d(x, layer.filters, layer.size, layer.stride, layer.padding, use_bias=layer.bias,
                                 activation=activation(layer), trainable=layer.trainable, name=name)
        elif isinstance(layer, BatchNorm):
            x = v1.layers.batch_normalization(x, momentum=layer.decay, epsilon=layer.epsilon, training=True,
                                              fused=True, name=name)
            x = tf.nn.relu(x) if layer.relu else x
        elif isinstance(layer, MaxPool):
            x = tf.nn.max_pool2d(x, layer.size, layer.stride, layer.padding.upper())
        elif isinstance(layer, GlobalAveragePool):
            x = tf.reduce_mean(x, [1, 2])
        elif isinstance(layer, MeanOverSequence):
            x = tf.reduce_mean(x, 1)
        elif isinstance(layer, Flatten):
            x = v1.layers.flatten(x)
        elif isinstance(layer, Dropout):
            x = tf.nn.dropout(x, rate=layer.rate)
        elif isinstance(layer, Dense):
            x = v1.layers.dense(x, layer.units, activation=activation(layer), name=name)
        elif isinstance(layer, Residual):
            x = tf.nn.relu(build(layer.body, x, name + "_body") + build(layer.shortcut, x, name + "_short"))
        elif isinstance(layer, Embedding):
            table = v1.get_variable(name, [layer.vocabulary, layer.width])
            x = tf.nn.embedding_lookup(table, x)
        elif isinstance(layer, Encoder):
            with v1.variable_scope(name):
                x = encoder(layer, x)
        else:
            raise TypeError(layer)
    return x


def make_optimizer(spec):
    if spec.kind == "sgd":
        return v1.train.GradientDescentOptimizer(spec.rate)
    if spec.kind == "momentum":
        return v1.train.MomentumOptimizer(spec.rate, 0.9)
    if spec.kind == "adam":
        return v1.train.AdamOptimizer(spec.rate)
    return v1.train.RMSPropOptimizer(spec.rate, decay=0.9, epsilon=1e-7)


def model_fn(features, labels, mode):
    model = ARGS.model
    out = build(model.layers, features["x"], "layer")
    if model.classes:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=out))
    else:
        loss = tf.reduce_mean(tf.square(out - labels))
    v1.add_to_collection(LOSS, loss)
    if REPLICAS > 1:
        loss = loss / REPLICAS  # the strategy adds the replicas' gradients
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train = make_optimizer(model.optimizer).minimize(loss, global_step=v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


class Turns(v1.train.SessionRunHook):
    """Answers the driver between steps. The first turn of two steps is the warm-up."""

    def begin(self):
        # Of the variables those that are not an optimizer's and no other replica's copy.
        slots = ("Adam", "RMSProp", "Momentum", "beta1_power", "beta2_power", "global_step", "/replica_")
        self.parameters = sum(v.shape.num_elements() for v in v1.global_variables()
                              if not any(s in v.op.name for s in slots))
        self.loss = v1.get_collection(LOSS)[0]  # of the first replica
        self.first_loss = None
        self.steps, self.done = 2, 0  # of this turn

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.done += 1
        loss = float(run_values.results)
        if self.first_loss is None:
            self.first_loss = loss
            CHANNEL.first_step()
            self.start = time.perf_counter()
        if self.done < self.steps:
            return
        seconds = time.perf_counter() - self.start
        if self.parameters is not None:
            CHANNEL.ready(ARGS, self.first_loss, self.parameters, seconds)
            self.parameters = None
        else:
            CHANNEL.ran(self.steps, seconds, loss)
        self.steps, self.done = CHANNEL.next_run(), 0
        if self.steps is None:
            run_context.request_stop()
        self.start = time.perf_counter()


def main():
    devices = REPLICAS // ARGS.workers
    config = v1.ConfigProto(intra_op_parallelism_threads=ARGS.threads, inter_op_parallelism_threads=ARGS.threads,
                            device_count={"CPU": devices})
    strategy = None
    if ARGS.workers > 1:
        tf.config.threading.set_intra_op_parallelism_threads(ARGS.threads)
        tf.config.threading.set_inter_op_parallelism_threads(ARGS.threads)
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    elif devices > 1:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * devices)
        strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(devices)])
    if ARGS.variant == "bf16":
        from tensorflow.core.protobuf import rewriter_config_pb2
        config.graph_options.rewrite_options.auto_mixed_precision_onednn_bfloat16 = (
            rewriter_config_pb2.RewriterConfig.ON)
    x, y = protocol.random_batch(ARGS.model, ARGS.batch // devices)

    def input_fn():
        return tf.data.Dataset.from_tensors(({"x": x}, y)).repeat().prefetch(2)

    with tempfile.TemporaryDirectory() as directory:
        estimator = tf.estimator.Estimator(
            model_fn, directory,
            tf.estimator.RunConfig(session_config=config, train_distribute=strategy, save_summary_steps=None,
                                   save_checkpoints_steps=None, save_checkpoints_secs=None, log_step_count_steps=None,
                                   tf_random_seed=1))
        if ARGS.workers > 1:
            tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn, hooks=[Turns()]),
                                            tf.estimator.EvalSpec(input_fn, steps=1))
        else:
            estimator.train(input_fn, hooks=[Turns()])


main()
