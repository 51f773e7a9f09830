// What a library has to say about the end of a program that it is linked into.
#ifndef TANDEM_BASE_END_OF_PROGRAM_H_
#define TANDEM_BASE_END_OF_PROGRAM_H_

#include "absl/status/status.h"

namespace tandem {

// Given what the program's body has returned, what the program ends with.
using EndOfProgramFn = absl::Status (*)(const absl::Status& status);

// As a constant of a source file: RunProgram (base/program.h) calls `fn` behind the body. Several are called in any
// order, each with what the one before it has returned.
class AtEndOfProgram {
 public:
  explicit AtEndOfProgram(EndOfProgramFn fn);
};

// What all of them make of `status`.
absl::Status StatusAtEndOfProgram(absl::Status status);

}  // namespace tandem

#endif  // TANDEM_BASE_END_OF_PROGRAM_H_
