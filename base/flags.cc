#include "base/flags.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
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

using FlagMap = std::map<std::string, absl::CommandLineFlag*>;

// Returns the program's own flags, without those of Abseil's libraries.
FlagMap OwnFlags() {
  FlagMap flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (!absl::StrContains(flag->Filename(), "absl/flags")) flags.emplace(std::string(name), flag);
  }
  return flags;
}

absl::Status UnknownFlag(const std::string& name, const FlagMap& flags) {
  std::vector<std::string> names = {"help"};
  for (const auto& entry : flags) names.push_back(entry.first);
  const std::string nearest = NearestName(name, names);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag --", name,
                   nearest.empty() ? "; --help lists all" : absl::StrCat("; did you mean --", nearest, "?")));
}

// True if the values of a flag are numbers of type T, or such a number or none.
template <typename T>
bool IsWhole(const absl::CommandLineFlag& flag) {
  return flag.IsOfType<T>() || flag.IsOfType<std::optional<T>>();
}

// Says which values a flag takes; `error` is that of its parser.
std::string Expected(const absl::CommandLineFlag& flag, absl::string_view error) {
  if (IsWhole<int>(flag) || IsWhole<int64_t>(flag) || IsWhole<uint64_t>(flag)) return "; give a whole number";
  if (flag.IsOfType<double>() || flag.IsOfType<float>()) return "; give a number";
  if (flag.IsOfType<bool>()) return "; give true or false";
  return error.empty() ? "" : absl::StrCat(": ", error);
}

}  // namespace

absl::StatusOr<bool> ParseFlagList(const std::vector<std::string>& arguments, std::vector<std::string>* positional) {
  const FlagMap flags = OwnFlags();
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (!absl::StartsWith(argument, "-") || argument == "-" || argument == "--") {
      if (positional != nullptr) {
        positional->push_back(arguments[i]);
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("unexpected argument \"", argument, "\": every argument is a flag --name=value"));
    }
    argument.remove_prefix(absl::StartsWith(argument, "--") ? 2 : 1);
    const size_t equals = argument.find('=');
    const std::string name = absl::StrReplaceAll(argument.substr(0, equals), {{"-", "_"}});
    if (name == "help" || name == "h") return true;

    auto it = flags.find(name);
    bool negated = false;
    if (it == flags.end() && absl::StartsWith(name, "no") && equals == absl::string_view::npos) {
      it = flags.find(name.substr(2));
      negated = it != flags.end() && it->second->IsOfType<bool>();
      if (!negated) it = flags.end();
    }
    if (it == flags.end()) return UnknownFlag(name, flags);

    std::string value;
    if (negated) {
      value = "false";
    } else if (equals != absl::string_view::npos) {
      value = std::string(argument.substr(equals + 1));
    } else if (it->second->IsOfType<bool>()) {
      value = "true";
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return absl::InvalidArgumentError(absl::StrCat("flag --", name, " needs a value: --", name, "=VALUE"));
    }
    std::string error;
    if (!it->second->ParseFrom(value, &error)) {
      return absl::InvalidArgumentError(absl::StrCat("flag --", name, ": bad value \"", value, "\"",
                                                     Expected(*it->second, error), " (", it->second->Help(), ")"));
    }
  }
  return false;
}

std::string HelpText(absl::string_view program, absl::string_view about) {
  std::string text = absl::StrCat(program, ": ", about, "\n\nFlags:\n");
  for (const auto& [name, flag] : OwnFlags()) {
    const std::string otherwise = flag->DefaultValue();
    absl::StrAppend(&text, "  --", name, "\n      ", flag->Help(),
                    "\n      Default: ", otherwise.empty() ? "none" : otherwise, "\n");
  }
  absl::StrAppend(&text, "  --help\n      Prints this and exits.\n");
  return text;
}

std::optional<int> ParseFlags(int argc, char** argv, absl::string_view about, std::vector<std::string>* positional) {
  const std::string program = BaseName(argc > 0 ? argv[0] : "program");
  const absl::StatusOr<bool> help =
      ParseFlagList(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), positional);
  if (!help.ok()) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), std::string(help.status().message()).c_str());
    return kExitUsage;
  }
  if (!*help) return std::nullopt;
  std::fputs(HelpText(program, about).c_str(), stdout);
  return kExitOk;
}

}  // namespace tandem
