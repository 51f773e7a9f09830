"""PyTorch's side: eager, channels_last, torch.compile, and bfloat16 autocast, as its performance guides advise.

On a GPU every step takes its batch from pinned host memory. "graphs" replays the whole step, with the optimizer, as one
CUDA graph; "compile" uses the mode that makes CUDA graphs of forward and backward. Float32 variants do not use
TensorFloat-32, "tf32" ones do. Several workers: DistributedDataParallel with Gloo, whose sums go into the gradients
without a copy.
"""
import os

import protocol
from models import (BatchNorm, Conv, Dense, Dropout, Embedding, Encoder, Flatten, GlobalAveragePool, MaxPool,
                    MeanOverSequence, Residual)

CHANNEL = protocol.Channel()
ARGS = protocol.arguments(("eager", "channels_last", "compile", "bf16", "compile_bf16", "graphs", "graphs_bf16",
                           "compile_tf32", "graphs_tf32"))
DEVICE = "cuda" if ARGS.device == "gpu" else "cpu"
GRAPHS = ARGS.variant.startswith("graphs")
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
    # "fused" is the fastest of the implementations that PyTorch offers; RMSprop has none. In a graph the step counters
    # must lie on the device.
    if spec.kind == "sgd":
        return torch.optim.SGD(parameters, lr=spec.rate, fused=True)
    if spec.kind == "momentum":
        return torch.optim.SGD(parameters, lr=spec.rate, momentum=0.9, fused=True)
    if spec.kind == "adam":
        return torch.optim.Adam(parameters, lr=spec.rate, fused=True, capturable=GRAPHS)
    return torch.optim.RMSprop(parameters, lr=spec.rate, alpha=0.9, eps=1e-7, foreach=True, capturable=GRAPHS)


def capture(step):
    """`step` as one graph; a few runs on a stream of their own come first, as PyTorch's notes on CUDA graphs ask."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def main():
    torch.set_num_threads(ARGS.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)
    model = ARGS.model
    net, _ = build(model.layers, model.input_shape)
    net.train()
    host = [torch.from_numpy(a) for a in protocol.random_batch(model, ARGS.batch)]
    host[1] = host[1].long() if model.classes else host[1]
    net = net.to(DEVICE)
    if host[0].dim() == 4:
        host[0] = host[0].permute(0, 3, 1, 2)
        # Channels last is the advice for convolutions; "eager" alone shows PyTorch's default layout.
        if ARGS.variant == "eager":
            host[0] = host[0].contiguous()
        else:
            host[0] = host[0].contiguous(memory_format=torch.channels_last)
            net = net.to(memory_format=torch.channels_last)
    if DEVICE == "cuda":
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = ARGS.variant.endswith("tf32")
        host = [t.pin_memory() for t in host]
    x, y = (t.to(DEVICE) for t in host)
    parameters = sum(p.numel() for p in net.parameters()) + sum(b.numel() for b in net.buffers() if b.dim() > 0)
    optimizer = make_optimizer(model.optimizer, [p for p in net.parameters() if p.requires_grad])
    if ARGS.workers > 1:
        torch.distributed.init_process_group("gloo")
        net = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
    bf16 = ARGS.variant.endswith("bf16")

    def loss_of(x, y):
        # The cache of casted weights must not outlive a capture.
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=bf16, cache_enabled=not GRAPHS):
            out = net(x)
            return F.cross_entropy(out, y) if model.classes else F.mse_loss(out, y)

    if ARGS.variant.startswith("compile"):
        loss_of = torch.compile(loss_of, mode="reduce-overhead" if DEVICE == "cuda" else "default")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        return loss

    if GRAPHS:
        step = capture(step)

    def run(steps):
        for _ in range(steps):
            if DEVICE == "cuda":
                x.copy_(host[0], non_blocking=True)
                y.copy_(host[1], non_blocking=True)
            loss = step()
        return loss.item()

    protocol.serve(CHANNEL, ARGS, run, parameters)


main()
