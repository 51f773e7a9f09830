// What the main functions of all samples do with their result.
#ifndef TANDEM_SAMPLES_SAMPLE_MAIN_H_
#define TANDEM_SAMPLES_SAMPLE_MAIN_H_

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "base/exit_code.h"

namespace tandem {

// Prints an error to stderr; returns the process's exit code.
inline int Finish(const char* program, const absl::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", program, std::string(status.message()).c_str());
  return ExitCodeFor(status);
}

}  // namespace tandem

#endif  // TANDEM_SAMPLES_SAMPLE_MAIN_H_
