"""PyTorch's side: eager, channels_last, torch.compile, and bfloat16 autocast, as its performance guides advise."""
import os

import protocol
from models import (BatchNorm, Conv, Dense, Dropout, Embedding, Encoder, Flatten, GlobalAveragePool, MaxPool,
                    MeanOverSequence, Residual)

CHANNEL = protocol.Channel()
ARGS = protocol.arguments(("eager", "channels_last", "compile", "bf16", "compile_bf16"))
os.environ.setdefault("OMP_NUM_THREADS", str(ARGS.threads))

import torch  # noqa: E402  (after the number of threads is known)
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


class Block(nn.Module):
    """relu(body(x) + shortcut(x))."""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


class Mean(nn.Module):

    def __init__(self, axes):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        return x.mean(self.axes)


def build(layers, shape):
    """The layers as a module, and the shape (without batch, channels last) behind them."""
    modules = []
    for layer in layers:
        if isinstance(layer, Conv):
            conv = nn.Conv2d(shape[2], layer.filters, layer.size, layer.stride,
                             layer.size // 2 if layer.padding == "same" else 0, bias=layer.bias)
            conv.requires_grad_(layer.trainable)
            modules += [conv] + [nn.ReLU(inplace=True)] * layer.relu
            size = [(d + 2 * conv.padding[0] - layer.size) // layer.stride + 1 for d in shape[:2]]
            shape = (*size, layer.filters)
        elif isinstance(layer, BatchNorm):
            modules += [nn.BatchNorm2d(shape[-1], eps=layer.epsilon, momentum=1 - layer.decay)]
            modules += [nn.ReLU(inplace=True)] * layer.relu
        elif isinstance(layer, MaxPool):
            pad = layer.size // 2 if layer.padding == "same" else 0
            modules.append(nn.MaxPool2d(layer.size, layer.stride, pad))
            shape = (*((d + 2 * pad - layer.size) // layer.stride + 1 for d in shape[:2]), shape[2])
        elif isinstance(layer, GlobalAveragePool):
            modules.append(Mean((2, 3)))
            shape = shape[2:]
        elif isinstance(layer, Flatten):
            modules.append(nn.Flatten())
            shape = (shape[0] * shape[1] * shape[2],)
        elif isinstance(layer, Dropout):
            modules.append(nn.Dropout(layer.rate))
        elif isinstance(layer, Dense):
            modules += [nn.Linear(shape[0], layer.units)] + [nn.ReLU(inplace=True)] * layer.relu
            shape = (layer.units,)
        elif isinstance(layer, Residual):
            body, after = build(layer.body, shape)
            modules.append(Block(body, build(layer.shortcut, shape)[0] if layer.shortcut else nn.Identity()))
            shape = after
        elif isinstance(layer, Embedding):
            modules.append(nn.Embedding(layer.vocabulary, layer.width))
            shape = (shape[0], layer.width)
        elif isinstance(layer, Encoder):
            modules.append(nn.TransformerEncoderLayer(shape[1], layer.heads, layer.hidden, dropout=0.0,
                                                      activation="gelu", layer_norm_eps=layer.epsilon,
                                                      batch_first=True))
        elif isinstance(layer, MeanOverSequence):
            modules.append(Mean(1))
            shape = shape[1:]
        else:
            raise TypeError(layer)
    return nn.Sequential(*modules), shape


def make_optimizer(spec, parameters):
    # "fused" is the fastest of the implementations that PyTorch offers on a CPU; RMSprop has none.
    if spec.kind == "sgd":
        return torch.optim.SGD(parameters, lr=spec.rate, fused=True)
    if spec.kind == "momentum":
        return torch.optim.SGD(parameters, lr=spec.rate, momentum=0.9, fused=True)
    if spec.kind == "adam":
        return torch.optim.Adam(parameters, lr=spec.rate, fused=True)
    return torch.optim.RMSprop(parameters, lr=spec.rate, alpha=0.9, eps=1e-7, foreach=True)


def main():
    torch.set_num_threads(ARGS.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)
    model = ARGS.model
    net, _ = build(model.layers, model.input_shape)
    net.train()
    x, y = (torch.from_numpy(a) for a in protocol.random_batch(model, ARGS.batch))
    images = x.dim() == 4
    if images:
        x = x.permute(0, 3, 1, 2)
        # Channels last is the advice for convolutions; "eager" alone shows PyTorch's default layout.
        if ARGS.variant == "eager":
            x = x.contiguous()
        else:
            x = x.contiguous(memory_format=torch.channels_last)
            net = net.to(memory_format=torch.channels_last)
    y = y.long() if model.classes else y
    parameters = sum(p.numel() for p in net.parameters()) + sum(b.numel() for b in net.buffers() if b.dim() > 0)
    optimizer = make_optimizer(model.optimizer, [p for p in net.parameters() if p.requires_grad])
    bf16 = ARGS.variant.endswith("bf16")

    def loss_of(x, y):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            out = net(x)
            return F.cross_entropy(out, y) if model.classes else F.mse_loss(out, y)

    if ARGS.variant.startswith("compile"):
        loss_of = torch.compile(loss_of)

    def run(steps):
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(x, y)
            loss.backward()
            optimizer.step()
        return loss.item()

    protocol.serve(CHANNEL, ARGS, run, parameters)


main()
