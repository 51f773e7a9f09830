// An executable file with right checksums, as text, JSON, page and graph.
#include "base/json_string.h"
#include "runtime/executable/command_info.h"
#include "runtime/executable/executable.h"
#include "runtime/testing/small_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/sealed.h"
#include "tools/dump/dot_dump.h"
#include "tools/dump/html_dump.h"
#include "tools/dump/json_dump.h"
#include "tools/dump/text_dump.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {ProgramOfLibraryCalls(), ProgramWithKernels()};
  // With the text of a phase that launches a kernel.
  auto executable = Executable::Parse(seeds[0]);
  if (!executable.ok()) return {};
  const std::string text =
      "module {\n  func.func private @k(%a: tensor<?x3xf32>) {\n    exec.launch @k(%a) : () -> ()\n    return\n  }\n"
      "  func.func @step(%x: tensor<?x3xf32> {td.input = \"x\"} loc(\"x\"(\"m.cc\":3:0))) {\n"
      "    %0:2 = exec.map_microbatches (%x) {\n    ^bb0(%y: tensor<?x3xf32>):\n      %1 = exec.launch @k(%y) : "
      "(tensor<?x3xf32>)\n"
      "      exec.yield %1\n    }\n    return\n  }\n}\n";
  seeds.push_back(
      BuildExecutable((*executable)->index(), {{format::SegmentKind::kConstants, "constants", std::string(64, 1)},
                                               {format::SegmentKind::kIrText, "memory", text}}));
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto executable = tandem::Executable::Parse(tandem::fuzz::Sealed(data, size));
  if (!executable.ok()) return 0;
  tandem::fuzz::NoteAccepted();
  for (bool replicas : {false, true}) {
    const auto dump = tandem::DumpJson(**executable, replicas);
    tandem::JsonString(dump, 1);
    tandem::DumpText(dump);
    tandem::DumpHtml(**executable, dump, {});
  }
  tandem::DumpDot(**executable);
  tandem::ListCommands(**executable);
  return 0;
}
