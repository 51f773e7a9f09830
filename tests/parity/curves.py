"""Loss curves of the fashion_mnist sample beside references computed elsewhere (tests/data, tests/oracle)."""
import json
import os

import sample

CURVES = {  # reference: model, flags
    "mnist004_sgd": ("mnist", ["--optimizer=sgd"]),
    "mnist004_rmsprop": ("mnist", ["--optimizer=rmsprop"]),
    "zalando_adam": ("zalando", ["--optimizer=adam"]),
    "zalando_momentum": ("zalando", ["--optimizer=momentum"]),
    "multi_gpu_sgd": ("multi_gpu", ["--optimizer=sgd", "--dropout=0"]),
}


def reference(name):
    with open(os.path.join(sample.DATA, name + ".losses.json")) as f:
        return json.load(f)


def train(name, devices, *flags):
    """The losses of every step on `devices`, from the reference's weights, and the evaluation of the trained ones."""
    golden = reference(name)
    model, model_flags = CURVES[name]
    directory = sample.fresh_dir(f"{name}_{'_'.join(devices)}".replace(":", ""))
    log, evaluation = os.path.join(directory, "loss.jsonl"), os.path.join(directory, "eval.json")
    sample.run(f"--model={model}", *model_flags, "--precision=strict_float32",
               f"--learning_rate={golden['learning_rate']}", "--devices=" + ",".join(devices),
               f"--batch_size={golden['batch'] // len(devices)}", f"--max_steps={golden['steps']}",
               "--shuffle_buffer=0", f"--model_dir={directory}/model", f"--loss_log={log}",
               f"--eval_json={evaluation}", "--eval_examples=train:1000",
               f"--init_from={sample.initial_weights(name)}", *flags)
    with open(log) as f:
        losses = [json.loads(line)["loss"] for line in f]
    with open(evaluation) as f:
        return losses, json.load(f)


def check_losses(name, title, losses, wanted, floor):
    """Every step: |loss - wanted| / wanted <= max(floor, 3 x gap), with gap how far the reference's own float32 runs are
    from its float64 run (running maximum): one in the order of the data, and some with the rows of every batch in another
    order. They leave each other where rounding decides a tie of max pooling, as weights do that differ in a last bit."""
    golden = reference(name)
    gaps = [max(pair) for pair in zip(golden["float32_gap"], golden.get("float32_gap_reordered", golden["float32_gap"]))]
    assert len(losses) == len(wanted), f"{len(losses)} steps instead of {len(wanted)}"
    ratios = [abs(loss - w) / w / max(floor, 3 * gap) for loss, w, gap in zip(losses, wanted, gaps)]
    worst = max(range(len(ratios)), key=lambda i: ratios[i])
    print(f"{name}, {title}: {len(losses)} steps, at most {ratios[worst]:.4f} of the bar (step {worst})")
    assert ratios[worst] <= 1, f"step {worst}: loss {losses[worst]}, reference {wanted[worst]}"


def check_evaluation(name, result):
    golden = reference(name)
    expected = golden["eval_first_1000_train"]
    assert result["global_step"] == golden["steps"], result
    gap = max(1e-3, 10 * max(golden["float32_gap"]))
    assert abs(result["loss"] - expected["loss"]) / expected["loss"] <= gap, (result, expected)
    assert abs(result["accuracy"] - expected["accuracy"]) <= max(0.005, gap), (result, expected)
