"""The convnets of the samples, and training them in file order."""
import numpy as np

from nn import BatchNormalization, Conv2D, Dense, Flatten, MaxPool2x2, softmax_cross_entropy

LAYERS = {
    "mnist": [Conv2D("conv2d"), MaxPool2x2(), Flatten(), Dense("dense", True), Dense("dense_1", False)],
    "zalando": [
        Conv2D("conv2d"), MaxPool2x2(), Conv2D("conv2d_1"), MaxPool2x2(), Conv2D("conv2d_2"), Flatten(),
        Dense("dense", True), Dense("dense_1", False)
    ],
    "multi_gpu": [
        Conv2D("conv2d"), Conv2D("conv2d_1"), BatchNormalization("batch_normalization"), Conv2D("conv2d_2"),
        MaxPool2x2(), Flatten(), Dense("dense", True), Dense("dense_1", False)
    ],
}


def forward(layers, images, params, state, training):
    saved, x = [], images
    for layer in layers:
        x, s = layer.forward(x, params, state, training)
        saved.append(s)
    return x, saved


def train(model, optimizer, weights, images, labels, batch, steps, dtype, log=lambda step, loss: None):
    """Losses of every step before its update, then (params, state) after the last; images uint8 [n,28,28]."""
    layers = LAYERS[model]
    tensors = {name: value.astype(dtype) for name, value in weights.items()}
    state = {name: v for name, v in tensors.items() if "/moving_" in name}
    params = {name: v for name, v in tensors.items() if name not in state}
    losses = []
    for step in range(steps):
        rows = np.arange(step * batch, (step + 1) * batch) % len(images)
        logits, saved = forward(layers, scaled(images[rows], dtype), params, state, True)
        values, dy = softmax_cross_entropy(logits, labels[rows])
        losses.append(float(values.mean()))
        log(step, losses[-1])
        dy /= dtype(batch)
        grads = {}
        for i in reversed(range(len(layers))):
            dy = layers[i].backward(saved[i], dy, params, grads, i > 0)
            saved[i] = None
        assert grads.keys() == params.keys()
        optimizer.update(params, grads)
    return losses, params, state


def evaluate(model, params, state, images, labels, dtype, batch=50):
    """Mean loss and accuracy."""
    losses, right = [], 0
    for i in range(0, len(images), batch):
        logits, _ = forward(LAYERS[model], scaled(images[i:i + batch], dtype), params, state, False)
        values, _ = softmax_cross_entropy(logits, labels[i:i + batch])
        losses.extend(values)
        right += int((logits.argmax(1) == labels[i:i + batch]).sum())
    return float(np.mean(losses, dtype=dtype)), right / len(images)


def scaled(images, dtype):
    """uint8 -> [n,28,28,1] in 0..1, rounded to float32 first: that is what a program under test is fed."""
    return (images[..., None].astype(np.float32) / np.float32(255)).astype(dtype)
