"""embed_targets.py OUT FILE...: writes machine_model_targets.h, the machine models as constants."""
import os
import sys

with open(sys.argv[1], "w") as out:
    out.write("// Made by embed_targets.py from targets/*.txt.\n#pragma once\n\nnamespace tandem {\n\n"
              "struct MachineModelTarget {\n  const char* name;\n  const char* text;\n};\n\n"
              "inline constexpr MachineModelTarget kMachineModelTargets[] = {\n")
    for path in sorted(sys.argv[2:]):
        with open(path) as f:
            out.write('    {"%s", R"TARGET(%s)TARGET"},\n' % (os.path.splitext(os.path.basename(path))[0], f.read()))
    out.write("};\n\n}  // namespace tandem\n")
