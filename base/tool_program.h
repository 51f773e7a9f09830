// Runs a tool, whose flags are a FlagTable of its own.
#ifndef TANDEM_BASE_TOOL_PROGRAM_H_
#define TANDEM_BASE_TOOL_PROGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/flag_table.h"
#include "base/parse_flags.h"
#include "base/program.h"

namespace tandem {

// RunProgram with the fields of `Flags`, a FlagTable, in place of the program's ABSL_FLAGs. Every run has new ones.
template <typename Flags>
int RunToolProgram(
    int argc, char** argv, absl::string_view about,
    absl::FunctionRef<absl::Status(const Flags& flags, const std::vector<std::string>& arguments)> body) {
  std::optional<Flags> flags;
  std::vector<std::string> arguments;
  // The flags are made by the parser, where RunProgram handles a lack of memory.
  const auto parse = [&] { return ParseFlags(argc, argv, about, flags.emplace().by_name(), &arguments); };
  return RunProgram(argc, argv, parse, [&] { return body(*flags, arguments); });
}

// The same for a tool that takes only flags.
template <typename Flags>
int RunToolProgram(int argc, char** argv, absl::string_view about,
                   absl::FunctionRef<absl::Status(const Flags& flags)> body) {
  std::optional<Flags> flags;
  const auto parse = [&] { return ParseFlags(argc, argv, about, flags.emplace().by_name(), /*positional=*/nullptr); };
  return RunProgram(argc, argv, parse, [&] { return body(*flags); });
}

}  // namespace tandem

#endif  // TANDEM_BASE_TOOL_PROGRAM_H_
