// The ABSL_FLAGs of a program, set from its command line.
#ifndef TANDEM_BASE_FLAGS_H_
#define TANDEM_BASE_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Sets the ABSL_FLAGs of this program from its arguments. Names may have dashes for underscores; a value follows "=" or
// is the next argument; a boolean flag may stand alone or be negated ("--nocache"). Arguments that are no flags go to
// `positional`; they are errors if it is null. Returns the exit code if the program should end now: 0 after --help,
// which prints to stdout, 2 after an error, which is printed to stderr. `about` is one line on what the program does.
std::optional<int> ParseFlags(int argc, char** argv, absl::string_view about,
                              std::vector<std::string>* positional = nullptr);

// ParseFlags without output. Returns true if help is asked for. InvalidArgument says which flag is wrong and why.
absl::StatusOr<bool> ParseFlagList(const std::vector<std::string>& arguments,
                                   std::vector<std::string>* positional = nullptr);

// Returns all flags of the program with explanation and default, sorted by name.
std::string HelpText(absl::string_view program, absl::string_view about);

}  // namespace tandem

#endif  // TANDEM_BASE_FLAGS_H_
