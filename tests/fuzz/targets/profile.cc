// A trace that a run wrote, as tandem-dump --profile reads it.
#include <memory>

#include "runtime/format/index.h"
#include "runtime/testing/small_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tools/costs/costs.h"
#include "tools/costs/measurement.h"

namespace tandem::fuzz {
namespace {

const Executable& Program() {
  static const auto* executable = new std::shared_ptr<const Executable>(*Executable::Parse(ProgramWithKernels()));
  return **executable;
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string mode = Program().index().mode;
  return {R"({"traceEvents": [
{"name": "step", "ph": "X", "cat": ")" +
          mode + R"(", "ts": 1.5, "dur": 2.5, "pid": 1, "tid": 1,
 "args": {"step": 0, "run": 1, "rows": 2, "id": 0, "replica": 0, "lane": 0}},
{"name": "step", "ph": "X", "cat": ")" +
          mode + R"(", "ts": 5, "dur": 2, "pid": 1, "tid": 2,
 "args": {"step": 3, "run": 1, "rows": 2, "id": 3, "replica": 1, "lane": -1}}],
"otherData": {"threads": 2, "programs": {")" +
          mode + R"(": ")" + Program().index().key + R"("}}})"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  const auto measurement = tandem::ReadProfile(file.path(), tandem::fuzz::Program());
  if (!measurement.ok()) return 0;
  tandem::fuzz::NoteAccepted();
  const auto machine = tandem::BuiltInMachineModel("generic-avx512");
  tandem::CostsText(tandem::CostsJson(tandem::fuzz::Program(), *machine, 2, &*measurement));
  return 0;
}
