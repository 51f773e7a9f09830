"""Loss curves of compiled training against references computed elsewhere (tests/data, tests/oracle).

Bar, at every step: |loss - reference| / reference <= max(1e-4, 3 x float32_gap), where float32_gap is how far the
reference's own float32 run is from its float64 run (running maximum). The first run of a curve also checks the
evaluation of the trained weights on the first 1,000 training images.

Precision is strict_float32: by Winograd's algorithm equal patches of an image give values that differ in the last bits,
so that max pooling breaks ties in flat areas in another way than the reference does, and curves leave the bar after some
steps (docs/winograd.md).
"""
import json
import os
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import sample  # noqa: E402
import xunit  # noqa: E402

CURVES = {  # reference: model, flags
    "mnist004_sgd": ("mnist", ["--optimizer=sgd"]),
    "mnist004_rmsprop": ("mnist", ["--optimizer=rmsprop"]),
    "zalando_adam": ("zalando", ["--optimizer=adam"]),
    "zalando_momentum": ("zalando", ["--optimizer=momentum"]),
    "multi_gpu_sgd": ("multi_gpu", ["--optimizer=sgd", "--dropout=0"]),
}


def check(name, devices):
    with open(os.path.join(sample.DATA, name + ".losses.json")) as f:
        reference = json.load(f)
    model, flags = CURVES[name]
    directory = sample.fresh_dir(f"{name}_{devices}")
    log, evaluation = os.path.join(directory, "loss.jsonl"), os.path.join(directory, "eval.json")
    sample.run(f"--model={model}", *flags, "--precision=strict_float32", f"--learning_rate={reference['learning_rate']}",
               "--devices=" + ",".join(f"cpu:{d}" for d in range(devices)),
               f"--batch_size={reference['batch'] // devices}", f"--max_steps={reference['steps']}",
               "--shuffle_buffer=0", f"--model_dir={directory}/model", f"--loss_log={log}",
               f"--eval_json={evaluation}", "--eval_examples=train:1000",
               f"--init_from={sample.initial_weights(name)}")
    with open(log) as f:
        losses = [json.loads(line)["loss"] for line in f]
    assert len(losses) == len(reference["losses"]), f"{len(losses)} steps instead of {len(reference['losses'])}"
    ratios = [abs(loss - golden) / golden / max(1e-4, 3 * gap)
              for loss, golden, gap in zip(losses, reference["losses"], reference["float32_gap"])]
    worst = max(range(len(ratios)), key=lambda i: ratios[i])
    print(f"{name}, {devices} device(s): {len(losses)} steps, at most {ratios[worst]:.4f} of the bar (step {worst})")
    assert ratios[worst] <= 1, f"step {worst}: loss {losses[worst]}, reference {reference['losses'][worst]}"
    with open(evaluation) as f:
        result = json.load(f)
    expected = reference["eval_first_1000_train"]
    assert result["global_step"] == reference["steps"], result
    gap = max(1e-3, 10 * max(reference["float32_gap"]))
    assert abs(result["loss"] - expected["loss"]) / expected["loss"] <= gap, (result, expected)
    assert abs(result["accuracy"] - expected["accuracy"]) <= max(0.005, gap), (result, expected)


xunit.run("parity", [(f"{name}_{devices}_devices", lambda name=name, devices=devices: check(name, devices))
                     for name in CURVES for devices in ((1,) if name.startswith("multi_gpu") else (1, 2))])
