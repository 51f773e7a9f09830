// An executable file with right checksums: what the verifier takes runs a step.
#include <memory>

#include "runtime/testing/small_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/sealed.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() { return {ProgramOfLibraryCalls(), ProgramWithKernels()}; }

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto pool = std::make_shared<tandem::ThreadPool>(2);
  const auto executable = tandem::Executable::Parse(tandem::fuzz::Sealed(data, size));
  if (executable.ok() && tandem::TryToRun(*executable, pool)) tandem::fuzz::NoteAccepted();
  return 0;
}
