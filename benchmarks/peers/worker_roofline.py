"""What this GPU can do: float32 products without TensorFloat-32, and copies in its memory."""
import time

import protocol

CHANNEL = protocol.Channel()

import torch  # noqa: E402

SIZE, COPIED, REPEATS = 8192, 1 << 30, 10


def rate(work, call):
    """Work per second: the best of five timed runs of REPEATS calls each, after a warm-up."""
    call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(REPEATS):
            call()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return work * REPEATS / best


def main():
    if not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.rand(SIZE, SIZE, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    source = torch.empty(COPIED, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)

    def multiply():
        torch.matmul(a, b, out=c)

    flops = rate(2 * SIZE**3, multiply)
    size = rate(2 * COPIED, lambda: target.copy_(source))
    CHANNEL.say("first_step")
    CHANNEL.say("ready", model="roofline", batch=0, parameters=0, flops_per_second=flops, bytes_per_second=size,
                flops_per_step=2 * SIZE**3, seconds_per_step=2 * SIZE**3 / flops, gpu=torch.cuda.get_device_name())
    while (steps := CHANNEL.next_run()) is not None:
        start = time.perf_counter()
        for _ in range(steps):
            multiply()
        torch.cuda.synchronize()
        CHANNEL.ran(steps, time.perf_counter() - start, 0.0)


main()
