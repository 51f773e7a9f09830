#include "base/end_of_program.h"

#include <utility>
#include <vector>

namespace tandem {
namespace {

std::vector<EndOfProgramFn>& Functions() {
  static auto& functions = *new std::vector<EndOfProgramFn>();
  return functions;
}

}  // namespace

AtEndOfProgram::AtEndOfProgram(EndOfProgramFn fn) { Functions().push_back(fn); }

absl::Status StatusAtEndOfProgram(absl::Status status) {
  for (const EndOfProgramFn fn : Functions()) status = fn(status);
  return status;
}

}  // namespace tandem
