// Text that users write for the compiler: a machine model, and TANDEM_FLAGS.
#include "passes/analysis/machine_model.h"
#include "passes/pipeline/tandem_flags.h"
#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  return {MachineModelText(*BuiltInMachineModel("zen4")),
          "--disable-pass=td-schedule --print-ir-after=td-schedule --timing --machine-model=m.txt"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = tandem::ParseMachineModel("machine.txt", text);
  tandem::CompileOptions options;
  const bool flags = tandem::ApplyTandemFlags(text, &options).ok();
  if (model.ok()) tandem::MachineModelText(*model);
  if (model.ok() || flags) tandem::fuzz::NoteAccepted();
  return 0;
}
