// Helpers for the main functions of all programs.
#ifndef TANDEM_BASE_PROGRAM_H_
#define TANDEM_BASE_PROGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Opens /dev/null for each standard descriptor that the program was started without, so that no file that it opens gets
// the number 0, 1 or 2, and with it the program's output. Also makes writes to a closed pipe fail (EPIPE) instead of
// killing the process. Call it before anything is opened.
void PrepareStandardStreams();

// OK if everything printed has been written. Errors carry exit code 74.
absl::Status FlushStandardOutput();

// Prints an error to stderr as "<program>: <message>", with control characters escaped. Returns the process's exit
// code, which is 74 if only the standard output could not be written completely.
int FinishProgram(absl::string_view program, const absl::Status& status);

// A whole main function: prepares the standard streams, parses the flags (ParseFlags), runs `body`, and returns the
// exit code for its result. Exceptions are printed; the exit code is 74 if memory or threads ran out. A body without
// arguments accepts only flags.
//
// The process is Tandem's from then on (base/owned_process.h): trainings end at SIGINT, SIGTERM and SIGHUP with a
// checkpoint (RunConfig.handle_signals), SIGPIPE is ignored, and NCCL_RUNTIME_CONNECT is 0 unless the user has set it.
// A program with a main function of its own keeps its handlers, its environment and its descriptors.
int RunProgram(int argc, char** argv, absl::string_view about, absl::FunctionRef<absl::Status()> body);
int RunProgram(int argc, char** argv, absl::string_view about,
               absl::FunctionRef<absl::Status(const std::vector<std::string>& arguments)> body);

// The same for flags that are no ABSL_FLAGs: `parse` sets them, and returns what ParseFlags does.
int RunProgram(int argc, char** argv, absl::FunctionRef<std::optional<int>()> parse,
               absl::FunctionRef<absl::Status()> body);

}  // namespace tandem

#endif  // TANDEM_BASE_PROGRAM_H_
