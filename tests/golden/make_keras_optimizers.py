"""make_keras_optimizers.py FILE: writes what three steps of Keras' optimizers make of a Dense layer
(tests/golden/keras_optimizers.safetensors). Run with TensorFlow 2.15.1 (Keras 2.15.0) on a CPU.

The layer has 3 inputs, 2 units, a kernel of 0.1 and a bias of 0; the loss is mse. "x" [3 steps, 4 rows, 3] and "y"
[3, 4, 2] are normal numbers. "<optimizer>/saved/<weight>" are the weights after two steps, "<optimizer>/third_step/..."
those after the third. Nadam is not among them: in a traced step Keras multiplies its product by b(t) once for each
variable or not at all.
"""
import sys

import numpy as np
import tensorflow as tf
from safetensors.numpy import save_file

O, OL = tf.keras.optimizers, tf.keras.optimizers.legacy
OPTIMIZERS = {
    "sgd": O.SGD,
    "sgd_momentum": lambda: O.SGD(0.1, momentum=0.9, nesterov=True),
    "rmsprop": O.RMSprop,
    "rmsprop_centered": lambda: O.RMSprop(0.01, momentum=0.5, centered=True),
    "adam": O.Adam,
    "adam_amsgrad": lambda: O.Adam(amsgrad=True),
    "adamw": O.AdamW,
    "adagrad": O.Adagrad,
    "adadelta": O.Adadelta,
    "adamax": O.Adamax,
    "ftrl": O.Ftrl,
    "adam_schedule": lambda: O.Adam(O.schedules.ExponentialDecay(0.1, 1, 0.5), clipnorm=1.0),
    "legacy_sgd_momentum": lambda: OL.SGD(0.1, momentum=0.9),
    "legacy_rmsprop": OL.RMSprop,
    "legacy_adam": OL.Adam,
}


def main():
    random = np.random.RandomState(7)
    x, y = random.randn(3, 4, 3).astype("f4"), random.randn(3, 4, 2).astype("f4")
    out = {"x": x, "y": y}
    for name, make in OPTIMIZERS.items():
        tf.keras.backend.clear_session()
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer=tf.keras.initializers.Constant(0.1))])
        model.compile(make(), "mse")
        for step in range(3):
            model.train_on_batch(x[step], y[step])
            if step > 0:
                when = "saved" if step == 1 else "third_step"
                out.update({"%s/%s/%s" % (name, when, w.name): w.numpy() for w in model.weights})
    save_file(out, sys.argv[1])


main()
