// Lets a library act at the end of a program that it is linked into.
#ifndef TANDEM_BASE_END_OF_PROGRAM_H_
#define TANDEM_BASE_END_OF_PROGRAM_H_

#include "absl/status/status.h"

namespace tandem {

// Receives the status with which the program's body ended, and returns the status with which the program ends.
using EndOfProgramFn = absl::Status (*)(const absl::Status& status);

// Define an AtEndOfProgram as a constant in a source file: RunProgram (base/program.h) then calls `fn` after the body.
// If there are several functions, they are called in any order, each with the result of the one before.
class AtEndOfProgram {
 public:
  explicit AtEndOfProgram(EndOfProgramFn fn);
};

// Calls all registered functions, and returns the final status.
absl::Status StatusAtEndOfProgram(absl::Status status);

}  // namespace tandem

#endif  // TANDEM_BASE_END_OF_PROGRAM_H_
