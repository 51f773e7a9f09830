// A flag as the parser of command lines (base/parse_flags.h) sees it, wherever its value is kept.
#ifndef TANDEM_BASE_COMMAND_FLAG_H_
#define TANDEM_BASE_COMMAND_FLAG_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// What values a flag takes. A flag that is true or false may stand alone on a command line, or be negated.
enum class FlagValues : int8_t { kTrueOrFalse, kWholeNumbers, kNumbers, kOther };

class CommandFlag {
 public:
  virtual FlagValues values() const = 0;
  virtual std::string Help() const = 0;
  // The value that the flag has where a command line does not name it; empty if that is none.
  virtual std::string Default() const = 0;
  // Sets the value. Returns false if `text` is none that the flag takes; `error` may then say why.
  virtual bool Set(absl::string_view text, std::string* error) = 0;

 protected:
  ~CommandFlag() = default;
};

// The flags of a command line, by their names.
using CommandFlags = std::map<std::string, CommandFlag*>;

}  // namespace tandem

#endif  // TANDEM_BASE_COMMAND_FLAG_H_
