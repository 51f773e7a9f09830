// What the main functions of all programs have in common.
#ifndef TANDEM_BASE_PROGRAM_H_
#define TANDEM_BASE_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Opens /dev/null in the place of each standard descriptor that the program was started without, so that no file it
// opens can get the number 0, 1 or 2 and with it what is printed; and has writes to a pipe that nobody reads any more
// fail (EPIPE) instead of killing the process. To be called before anything is opened.
void PrepareStandardStreams();

// OK when all that was printed has been written. An error carries exit code 74.
absl::Status FlushStandardOutput();

// Prints the error, if it is one, to stderr as "<program>: <message>" with control characters escaped. Returns the
// process's exit code, which is 74 when all else went well but standard output could not be written completely.
int FinishProgram(absl::string_view program, const absl::Status& status);

// A whole main function: the standard streams, the flags (ParseFlags), `body`, and its result as the exit code; what it
// throws is printed, and ends in exit code 74 where memory or threads ran out. The
// body without arguments takes flags only.
int RunProgram(int argc, char** argv, absl::string_view about, absl::FunctionRef<absl::Status()> body);
int RunProgram(int argc, char** argv, absl::string_view about,
               absl::FunctionRef<absl::Status(const std::vector<std::string>& arguments)> body);

}  // namespace tandem

#endif  // TANDEM_BASE_PROGRAM_H_
