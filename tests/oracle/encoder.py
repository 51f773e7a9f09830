"""encoder.py FILE: trains the small encoder of tests/compiled/encoder_model.h in NumPy, float64, and writes FILE (JSON).

Embedding, attention with two heads, exact GELU, layer normalisation after each residual (epsilon 1e-3), mean over the
positions, four classes, gradient descent at 0.125. Forward and backward are written from the formulas alone: attention as
Vaswani et al. 2017, layer norm as Ba et al. 2016, GELU as Hendrycks and Gimpel 2016. `check` compares every gradient
with central differences.
"""
import json
import math
import sys

import numpy as np

VOCABULARY, POSITIONS, WIDTH, HEADS, HIDDEN, CLASSES, BATCH, STEPS, RATE = 11, 6, 8, 2, 16, 4, 12, 4, 0.125
SIZE = WIDTH // HEADS
ERF = np.vectorize(math.erf)


def initial():
    """Weights that float32 holds exactly."""
    random = np.random.default_rng(7)
    a = "multi_head_attention/"
    shapes = {"embedding/embeddings": (VOCABULARY, WIDTH)}
    for name in ("query", "key", "value"):
        shapes[a + name + "/kernel"] = (WIDTH, HEADS, SIZE)
        shapes[a + name + "/bias"] = (HEADS, SIZE)
    shapes.update({a + "attention_output/kernel": (HEADS, SIZE, WIDTH), a + "attention_output/bias": (WIDTH,),
                   "dense/kernel": (WIDTH, HIDDEN), "dense/bias": (HIDDEN,),
                   "dense_1/kernel": (HIDDEN, WIDTH), "dense_1/bias": (WIDTH,),
                   "dense_2/kernel": (WIDTH, CLASSES), "dense_2/bias": (CLASSES,)})
    for norm in ("layer_normalization", "layer_normalization_1"):
        shapes[norm + "/gamma"] = shapes[norm + "/beta"] = (WIDTH,)
    weights = {n: np.round(random.uniform(-0.6, 0.6, s) * 1024) / 1024 for n, s in shapes.items()}
    for norm in ("layer_normalization", "layer_normalization_1"):
        weights[norm + "/gamma"] += 1
    return weights


def norm_forward(p, name, x):
    centred = x - x.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + float(np.float32(1e-3)))
    return centred * inverse * p[name + "/gamma"] + p[name + "/beta"], (centred, inverse)


def norm_backward(p, g, name, saved, dy):
    centred, inverse = saved
    g[name + "/gamma"] = (dy * centred * inverse).sum((0, 1))
    g[name + "/beta"] = dy.sum((0, 1))
    d = dy * p[name + "/gamma"]
    # y = centred * inverse; inverse' = -inverse^3 centred . dcentred / n
    dcentred = d * inverse - centred * inverse**3 * (d * centred).mean(-1, keepdims=True)
    return dcentred - dcentred.mean(-1, keepdims=True)


def loss_and_gradients(p, ids, labels):
    g = {}
    a = "multi_head_attention/"
    x = p["embedding/embeddings"][ids]
    q, k, v = (np.einsum("bsd,dhe->bhse", x, p[a + n + "/kernel"]) + p[a + n + "/bias"][None, :, None]
               for n in ("query", "key", "value"))
    scores = np.einsum("bhse,bhte->bhst", q, k) / math.sqrt(SIZE)
    weight = np.exp(scores - scores.max(-1, keepdims=True))
    weight /= weight.sum(-1, keepdims=True)
    context = np.einsum("bhst,bhte->bhse", weight, v)
    attended = np.einsum("bhse,hed->bsd", context, p[a + "attention_output/kernel"]) + p[a + "attention_output/bias"]
    y, saved_y = norm_forward(p, "layer_normalization", x + attended)
    pre = y @ p["dense/kernel"] + p["dense/bias"]
    cdf = 0.5 * (1 + ERF(pre / math.sqrt(2)))
    hidden = pre * cdf
    z, saved_z = norm_forward(p, "layer_normalization_1", y + hidden @ p["dense_1/kernel"] + p["dense_1/bias"])
    mean = z.mean(1)
    logits = mean @ p["dense_2/kernel"] + p["dense_2/bias"]
    log = logits - logits.max(-1, keepdims=True)
    log -= np.log(np.exp(log).sum(-1, keepdims=True))
    loss = -log[np.arange(len(labels)), labels].mean()

    dlogits = np.exp(log)
    dlogits[np.arange(len(labels)), labels] -= 1
    dlogits /= len(labels)
    g["dense_2/kernel"], g["dense_2/bias"] = mean.T @ dlogits, dlogits.sum(0)
    dz = np.repeat((dlogits @ p["dense_2/kernel"].T)[:, None] / POSITIONS, POSITIONS, 1)
    dsum = norm_backward(p, g, "layer_normalization_1", saved_z, dz)
    g["dense_1/kernel"], g["dense_1/bias"] = np.einsum("bsh,bsd->hd", hidden, dsum), dsum.sum((0, 1))
    dpre = (dsum @ p["dense_1/kernel"].T) * (cdf + pre * np.exp(-pre**2 / 2) / math.sqrt(2 * math.pi))
    g["dense/kernel"], g["dense/bias"] = np.einsum("bsd,bsh->dh", y, dpre), dpre.sum((0, 1))
    dsum = norm_backward(p, g, "layer_normalization", saved_y, dsum + dpre @ p["dense/kernel"].T)
    g[a + "attention_output/kernel"] = np.einsum("bhse,bsd->hed", context, dsum)
    g[a + "attention_output/bias"] = dsum.sum((0, 1))
    dcontext = np.einsum("bsd,hed->bhse", dsum, p[a + "attention_output/kernel"])
    dweight = np.einsum("bhse,bhte->bhst", dcontext, v)
    dscores = weight * (dweight - (dweight * weight).sum(-1, keepdims=True)) / math.sqrt(SIZE)
    parts = {"query": np.einsum("bhst,bhte->bhse", dscores, k), "key": np.einsum("bhst,bhse->bhte", dscores, q),
             "value": np.einsum("bhst,bhse->bhte", weight, dcontext)}
    dx = dsum
    for name, d in parts.items():
        g[a + name + "/kernel"] = np.einsum("bsd,bhse->dhe", x, d)
        g[a + name + "/bias"] = d.sum((0, 2))
        dx = dx + np.einsum("bhse,dhe->bsd", d, p[a + name + "/kernel"])
    table = np.zeros_like(p["embedding/embeddings"])
    np.add.at(table, ids, dx)
    g["embedding/embeddings"] = table
    return loss, g


def batches():
    random = np.random.default_rng(8)
    return [(random.integers(0, VOCABULARY, (BATCH, POSITIONS)), random.integers(0, CLASSES, BATCH))
            for _ in range(STEPS)]


def check(p, ids, labels):
    _, gradients = loss_and_gradients(p, ids, labels)
    worst = 0
    for name, value in p.items():
        for i in np.ndindex(value.shape):
            ends = []
            for step in (1e-5, -1e-5):
                old = value[i]
                value[i] = old + step
                ends.append(loss_and_gradients(p, ids, labels)[0])
                value[i] = old
            worst = max(worst, abs((ends[0] - ends[1]) / 2e-5 - gradients[name][i]))
    return worst


def main():
    p = initial()
    worst = check(p, *batches()[0])
    print("largest difference to central differences:", worst)
    assert worst < 1e-8
    record = {"initial": {n: w.ravel().tolist() for n, w in p.items()}, "steps": []}
    for ids, labels in batches():
        loss, gradients = loss_and_gradients(p, ids, labels)
        for name in p:
            p[name] = p[name] - RATE * gradients[name]
        record["steps"].append({"ids": ids.ravel().tolist(), "labels": labels.tolist(), "loss": loss})
    record["final"] = {n: w.ravel().tolist() for n, w in p.items()}
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(record, f)
        f.write("\n")


if __name__ == "__main__":
    main()
