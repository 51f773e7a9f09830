"""What keras_model saves is for TensorFlow 2.15 the model that it was: it loads, predicts, evaluates and trains on as
the file that it was made from; and what TensorFlow saves is read. Where TensorFlow is not importable the cases are
skipped; docs/developers/testing.md says how they are run by hand."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
try:
    import h5py
    import numpy as np
    import tensorflow as tf
except ImportError:
    tf = None

TMP = os.environ["TEST_TMPDIR"]
DATA = "tests/keras/testdata/"
TOOL = os.environ.get("KERAS_MODEL", "tests/keras/keras_model")
NAMES = ["sgd", "sgd_momentum", "rmsprop", "rmsprop_centered", "adam", "adam_amsgrad", "adam_schedule", "adamw", "adamax",
         "adagrad", "adadelta", "ftrl"]


def need_tensorflow():
    if tf is None:
        raise xunit.Skipped("TensorFlow 2.15 is not importable")
    tf.config.threading.set_intra_op_parallelism_threads(1)


def tool(*arguments):
    subprocess.run([TOOL, *arguments], check=True)


def path(name):
    return os.path.join(TMP, name)


def waves(shape, a, b):
    return np.sin(a * np.arange(np.prod(shape)) + b).astype("f4").reshape(shape)


def near(a, b, what):
    assert len(a) == len(b), what
    for x, y in zip(a, b):
        assert x.shape == y.shape, (what, x.shape, y.shape)
        assert np.abs(x - y).max(initial=0) <= 1e-5 * max(np.abs(y).max(initial=0), 1e-3), (what, x, y)


def copies_are_the_same_models():
    need_tensorflow()
    for name in ("pairs", "s2_narrow"):
        tool("copy", DATA + name + ".h5", path("copy.h5"))
        a, b = tf.keras.models.load_model(DATA + name + ".h5"), tf.keras.models.load_model(path("copy.h5"))
        for x, y in zip(a.get_weights(), b.get_weights()):
            assert (x == y).all()
        xs = [waves((5,) + tuple(i.shape[1:]), 0.3, k) for k, i in enumerate(a.inputs)]
        ys = {"pairs": [waves((5, 1), 1, 0) > 0, np.arange(5) % 3], "s2_narrow": [np.eye(10)[np.arange(5)]]}[name]
        near([np.asarray(p) for p in b(xs if len(xs) > 1 else xs[0])] if name == "pairs" else [b.predict(xs[0], verbose=0)],
             [np.asarray(p) for p in a(xs)] if name == "pairs" else [a.predict(xs[0], verbose=0)], name)
        before = a.evaluate(xs, ys, verbose=0, return_dict=True), b.evaluate(xs, ys, verbose=0, return_dict=True)
        assert before[0].keys() == before[1].keys(), before
        near([np.float64(v) for v in before[1].values()], [np.float64(v) for v in before[0].values()], name)
        if name == "pairs":  # the other drops at random
            a.train_on_batch(xs, ys), b.train_on_batch(xs, ys)
            near(b.get_weights(), a.get_weights(), name + " third step")


def optimizers_go_on():
    need_tensorflow()
    x, y = waves((4, 3), 0.7, 0), waves((4, 2), 0.9, 1)
    for name in NAMES:
        tool("copy", DATA + "optimizers/%s.h5" % name, path(name + ".h5"))
        tool("steps", DATA + "optimizers/%s.h5" % name, path(name + "_2.h5"), "2")
        a = tf.keras.models.load_model(DATA + "optimizers/%s.h5" % name)
        b = tf.keras.models.load_model(path(name + ".h5"))
        c = tf.keras.models.load_model(path(name + "_2.h5"))
        assert int(b.optimizer.iterations) == 2 and int(c.optimizer.iterations) == 4, name
        assert type(a.optimizer) is type(b.optimizer), name
        assert a.optimizer.get_config() == b.optimizer.get_config(), (a.optimizer.get_config(), b.optimizer.get_config())
        for _ in range(2):
            a.train_on_batch(x, y), b.train_on_batch(x, y)
        near(b.get_weights(), a.get_weights(), name)
        near(c.get_weights(), a.get_weights(), name + ", trained here")
        a.train_on_batch(x, y), c.train_on_batch(x, y)
        near(c.get_weights(), a.get_weights(), name + ", trained here and there")


def models_made_here():
    need_tensorflow()
    from safetensors.numpy import load_file
    tool("make", TMP)
    expected = load_file(path("expected.safetensors"))
    m = tf.keras.models.load_model(path("model.h5"))
    near([m.predict(expected["x"], verbose=0)], [expected["predictions"]], "predictions")
    loss, accuracy = m.evaluate(expected["x"], expected["y"], batch_size=8, verbose=0)
    assert abs(loss - expected["loss"]) < 1e-5 * loss, (loss, expected["loss"])
    assert abs(accuracy - expected["accuracy"]) < 1e-6, (accuracy, expected["accuracy"])
    assert int(m.optimizer.iterations) == 6
    assert not m.get_layer("head").layers[1].trainable
    for name in ("w.h5", "w.weights.h5"):
        other = tf.keras.models.model_from_json(m.to_json())
        other.load_weights(path(name))
        for x, y in zip(other.get_weights(), m.get_weights()):
            assert (x == y).all(), name
    archived = tf.keras.models.load_model(path("model.keras"))
    def numbers(model):
        return model.get_weights() + [v.numpy() for v in model.optimizer.variables]
    for x, y in zip(numbers(archived), numbers(m)):
        assert (x == y).all(), "model.keras"
    # And back.
    m.save(path("theirs.h5"))
    tool("copy", path("theirs.h5"), path("ours.h5"))
    with h5py.File(path("model.h5")) as a, h5py.File(path("ours.h5")) as b:
        def compare(name, item):
            if isinstance(item, h5py.Dataset):
                assert item[()].tobytes() == b[name][()].tobytes(), name
        a.visititems(compare)


def attention_made_here():
    need_tensorflow()
    from safetensors.numpy import load_file
    tool("attention", TMP)
    expected = load_file(path("attention.safetensors"))
    m = tf.keras.models.load_model(path("attention.h5"))
    near([m.predict(expected["x"], verbose=0)], [expected["predictions"]], "attention")
    m.save(path("theirs.h5"))
    tool("copy", path("theirs.h5"), path("ours.h5"))
    again = tf.keras.models.load_model(path("ours.h5"))
    near([again.predict(expected["x"], verbose=0)], [expected["predictions"]], "attention, there and back")
    assert int(again.optimizer.iterations) == 1


xunit.run("tensorflow", [("attention_made_here", attention_made_here),
                         ("copies_are_the_same_models", copies_are_the_same_models),
                         ("optimizers_go_on", optimizers_go_on), ("models_made_here", models_made_here)])
