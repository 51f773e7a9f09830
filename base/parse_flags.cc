#include "base/parse_flags.h"

#include <algorithm>
#include <cstdio>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// What an argument says of a flag: its name, with underscores for dashes, and the text after "=" if there is one.
struct FlagArgument {
  std::string name;
  std::optional<std::string> value;
};

bool NamesAFlag(absl::string_view argument) {
  return absl::StartsWith(argument, "-") && argument != "-" && argument != "--";
}

FlagArgument ReadFlagArgument(absl::string_view argument) {
  argument.remove_prefix(absl::StartsWith(argument, "--") ? 2 : 1);
  const size_t equals = argument.find('=');
  FlagArgument read = {.name = absl::StrReplaceAll(argument.substr(0, equals), {{"-", "_"}})};
  if (equals != absl::string_view::npos) read.value = std::string(argument.substr(equals + 1));
  return read;
}

// Returns the boolean flag that "--noNAME" negates; null if the argument is not of that form.
CommandFlag* NegatedFlag(const FlagArgument& argument, const CommandFlags& flags) {
  if (argument.value.has_value() || !absl::StartsWith(argument.name, "no")) return nullptr;
  const auto it = flags.find(argument.name.substr(2));
  return it != flags.end() && it->second->values() == FlagValues::kTrueOrFalse ? it->second : nullptr;
}

absl::Status UnknownFlag(const std::string& name, const CommandFlags& flags) {
  std::vector<std::string> names = {"help"};
  for (const auto& entry : flags) names.push_back(entry.first);
  const std::string nearest = NearestName(name, names);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag --", name,
                   nearest.empty() ? "; --help lists all" : absl::StrCat("; did you mean --", nearest, "?")));
}

// Says which values a flag takes; `error` is what it says of another one.
std::string Expected(FlagValues values, absl::string_view error) {
  switch (values) {
    case FlagValues::kTrueOrFalse:
      return "; give true or false";
    case FlagValues::kWholeNumbers:
      return "; give a whole number";
    case FlagValues::kNumbers:
      return "; give a number";
    case FlagValues::kOther:
      return error.empty() ? "" : absl::StrCat(": ", error);
  }
  return "";
}

absl::Status SetFlag(const std::string& name, const std::string& value, CommandFlag* flag) {
  std::string error;
  if (flag->Set(value, &error)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("flag --", name, ": bad value \"", value, "\"",
                                                 Expected(flag->values(), error), " (", flag->Help(), ")"));
}

}  // namespace

absl::StatusOr<bool> ParseFlagList(const std::vector<std::string>& arguments, const CommandFlags& flags,
                                   std::vector<std::string>* positional) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!NamesAFlag(arguments[i])) {
      if (positional == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("unexpected argument \"", arguments[i], "\": every argument is a flag --name=value"));
      }
      positional->push_back(arguments[i]);
      continue;
    }
    const FlagArgument argument = ReadFlagArgument(arguments[i]);
    const std::string& name = argument.name;
    if (name == "help" || name == "h") return true;
    const auto it = flags.find(name);
    if (it == flags.end()) {
      CommandFlag* const negated = NegatedFlag(argument, flags);
      if (negated == nullptr) return UnknownFlag(name, flags);
      TD_RETURN_IF_ERROR(SetFlag(name, "false", negated));
    } else if (argument.value.has_value()) {
      TD_RETURN_IF_ERROR(SetFlag(name, *argument.value, it->second));
    } else if (it->second->values() == FlagValues::kTrueOrFalse) {
      TD_RETURN_IF_ERROR(SetFlag(name, "true", it->second));
    } else if (i + 1 < arguments.size()) {
      TD_RETURN_IF_ERROR(SetFlag(name, arguments[++i], it->second));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("flag --", name, " needs a value: --", name, "=VALUE"));
    }
  }
  return false;
}

std::string HelpText(absl::string_view program, absl::string_view about, const CommandFlags& flags) {
  std::string text = absl::StrCat(program, ": ", about, "\n\nFlags:\n");
  for (const auto& [name, flag] : flags) {
    const std::string otherwise = flag->Default();
    absl::StrAppend(&text, "  --", name, "\n      ", flag->Help(),
                    "\n      Default: ", otherwise.empty() ? "none" : otherwise, "\n");
  }
  absl::StrAppend(&text, "  --help\n      Prints this and exits.\n");
  return text;
}

std::optional<int> ParseFlags(int argc, char** argv, absl::string_view about, const CommandFlags& flags,
                              std::vector<std::string>* positional) {
  const std::string program = BaseName(argc > 0 ? argv[0] : "program");
  const absl::StatusOr<bool> help =
      ParseFlagList(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), flags, positional);
  if (!help.ok()) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), std::string(help.status().message()).c_str());
    return kExitUsage;
  }
  if (!*help) return std::nullopt;
  std::fputs(HelpText(program, about, flags).c_str(), stdout);
  return kExitOk;
}

}  // namespace tandem
