#include "base/program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/end_of_program.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/posix_error.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/standard_descriptors.h"

namespace tandem {
namespace {

constexpr char kStandardOutput[] = "standard output";

// True if the reader of the output has exited, as in `tandem-dump DIR | head`.
bool NobodyReadsOutput() {
  pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// Returns the program's name. Allocates no memory, because running out of memory is not handled yet when it is called.
absl::string_view NameOf(int argc, char** argv) {
  const absl::string_view path = argc > 0 ? argv[0] : "program";
  return path.substr(path.rfind('/') + 1);
}

// Sets what libraries that are opened later find in the environment, unless the user has set it. No other thread reads
// the environment yet.
void SetVariablesOfLibraries() {
  // Since 2.22 NCCL connects GPUs at the first collective, inside of a call that waits for all processes and that no
  // deadline limits. With the value 0 it connects them when a communicator is made.
  setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/0);
}

}  // namespace

void PrepareStandardStreams() {
  OpenStandardDescriptors();
  signal(SIGPIPE, SIG_IGN);
}

absl::Status FlushStandardOutput() {
  std::cout.flush();
  if (std::fflush(stdout) != 0) return PosixError(errno, "write", kStandardOutput);
  // An earlier write failed, and the reason is not known any more.
  if (std::ferror(stdout) != 0 || !std::cout.good()) {
    return WithExitCode(absl::UnavailableError(absl::StrCat(kStandardOutput, ": could not be written completely")),
                        kExitIo);
  }
  // Network file systems report at close what they could not store.
  const int copy = dup(STDOUT_FILENO);
  if (copy >= 0 && close(copy) != 0 && errno != EINTR) return PosixError(errno, "write", kStandardOutput);
  return absl::OkStatus();
}

int FinishProgram(absl::string_view program, const absl::Status& status) {
  const absl::Status flushed = FlushStandardOutput();
  const absl::Status& result = status.ok() ? flushed : status;
  if (result.ok()) return kExitOk;
  if (!status.ok() || !NobodyReadsOutput()) {
    std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(), Printable(result.message()).c_str());
  }
  return ExitCodeFor(result);
}

int RunProgram(int argc, char** argv, absl::FunctionRef<std::optional<int>()> parse,
               absl::FunctionRef<absl::Status()> body) {
  PrepareStandardStreams();
  SetVariablesOfLibraries();
  const absl::string_view name = NameOf(argc, argv);
  return RunMain(name, [&] {
    const std::optional<int> code = parse();
    if (!code.has_value()) return FinishProgram(name, StatusAtEndOfProgram(body()));
    return *code == kExitOk ? FinishProgram(name, absl::OkStatus()) : *code;
  });
}

int RunProgram(int argc, char** argv, absl::string_view about, absl::FunctionRef<absl::Status()> body) {
  const auto parse = [&] { return ParseFlags(argc, argv, about); };
  return RunProgram(argc, argv, parse, body);
}

int RunProgram(int argc, char** argv, absl::string_view about,
               absl::FunctionRef<absl::Status(const std::vector<std::string>& arguments)> body) {
  std::vector<std::string> arguments;
  const auto parse = [&] { return ParseFlags(argc, argv, about, &arguments); };
  return RunProgram(argc, argv, parse, [&] { return body(arguments); });
}

}  // namespace tandem
