"""What tools say to command lines that are wrong: the exit code, and the first line, with what is wrong and a remedy."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath("tests/support"))
import xunit  # noqa: E402

USAGE, NO_INPUT = 2, 66  # docs/reference/exit_codes.md

CASES = [
    ("dump_of_nothing", ["tandem-dump"], USAGE, "usage: tandem-dump MODEL_DIR|FILE "),
    ("dump_of_what_is_not_there", ["tandem-dump", "modle"], NO_INPUT,
     "modle does not exist; give a model directory or a .tdx file"),
    ("mistyped_flag", ["tandem-dump", "--phas=exec", "model"], USAGE, "unknown flag --phas; did you mean --phase?"),
    ("plot_of_nothing", ["tandem-plot"], USAGE, "usage: tandem-plot MODEL_DIR [MODEL_DIR...] [-o FILE]"),
    ("plot_of_what_is_not_there", ["tandem-plot", "modle"], NO_INPUT,
     "modle does not exist; give the model_dir of a training"),
    ("records_without_a_command", ["tandem-records"], USAGE, "a command is needed: list, verify, write, split; usage:"),
    ("records_mistyped_command", ["tandem-records", "lst", "x"], USAGE,
     'there is no command "lst"; did you mean "list"? There are list, verify, write, split; usage:'),
    ("records_without_a_file", ["tandem-records", "list"], USAGE, '"list" takes other arguments than these 0; usage:'),
    ("checkpoint_mistyped_command", ["tandem-checkpoint", "shwo", "x"], USAGE,
     'there is no command "shwo"; did you mean "show"? There are '),
    ("compare_of_one_run", ["tandem-compare", "run"], USAGE, "two runs, or two files, are needed; usage:"),
    ("run_of_nothing", ["tandem-run"], USAGE, "usage: tandem-run FILE.tdx|MODEL_DIR|EXPORT_DIR [flags]"),
    ("run_of_what_is_not_there", ["tandem-run", "modle"], NO_INPUT,
     "modle does not exist; give a model directory or a .tdx file"),
    ("onnx_of_nothing", ["tandem-onnx"], USAGE, "usage: tandem-onnx EXPORT_DIR --output=model.onnx "),
    ("onnx_of_what_is_not_there", ["tandem-onnx", "modle", "--output=model.onnx"], NO_INPUT,
     "modle: there is no exported model (no file signature.json); name a folder that ExportModel"),
    ("stablehlo_of_nothing", ["tandem-stablehlo"], USAGE, "usage: tandem-stablehlo EXPORT_DIR --output=model.mlir "),
    ("stablehlo_of_no_rows", ["tandem-stablehlo", "modle", "--output=model.mlir", "--rows=0"], USAGE,
     "`rows` is 0; it may be from 1 to 2^31 - 1"),
    ("stablehlo_of_what_is_not_there", ["tandem-stablehlo", "modle", "--output=model.mlir"], NO_INPUT,
     "modle: there is no exported model (no file signature.json); name a folder that ExportModel"),
    ("serve_of_nothing", ["tandem-serve"], USAGE, "there is no model to serve; name each as NAME=DIRECTORY, "),
    ("serve_without_a_folder", ["tandem-serve", "digits"], USAGE,
     '"digits" names no model; the form is NAME=DIRECTORY, '),
    ("launch_without_workers", ["tandem-launch"], USAGE, "how many workers? tandem-launch -n 4 -- PROGRAM FLAGS"),
    ("launch_of_no_worker", ["tandem-launch", "-n", "0", "--", "x"], USAGE,
     "-n (--workers) is 0; it may be from 1 to 1024"),
    ("devices_with_an_argument", ["tandem-devices", "gpu"], USAGE,
     'unexpected argument "gpu": every argument is a flag --name=value'),
    ("textures_into_nothing", ["tandem-textures"], USAGE, "usage: tandem-textures DIR "),
    ("textures_of_a_wrong_size", ["tandem-textures", "textures", "--height=9"], USAGE,
     "textures of 9 x 512 pixels; height and width must be from 64 to 4096"),
    ("scale_of_nothing", ["tandem-scale"], USAGE, "usage: tandem-scale MODEL_DIR|FILE "),
    ("calibrate_with_an_argument", ["tandem-calibrate", "x"], USAGE,
     'unexpected argument "x": every argument is a flag --name=value'),
]


def told(command, code, text):
    tool = os.path.abspath(os.path.join("tools", command[0]))
    done = subprocess.run([tool, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          cwd=os.environ["TEST_TMPDIR"])
    first = (done.stderr.splitlines() or [""])[0]
    assert done.returncode == code, (command, done.returncode, done.stderr)
    assert first.startswith(command[0] + ": ") and text in first, (command, first)
    assert done.stdout == "", (command, done.stdout)


xunit.run("tools", [(name, lambda c=command, e=code, t=text: told(c, e, t)) for name, command, code, text in CASES])
