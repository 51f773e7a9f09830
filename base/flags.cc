#include "base/flags.h"

#include <cstdint>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "base/command_flag.h"
#include "base/parse_flags.h"

namespace tandem {
namespace {

class AbslFlag final : public CommandFlag {
 public:
  explicit AbslFlag(absl::CommandLineFlag* flag) : flag_(flag) {}

  FlagValues values() const override {
    if (flag_->IsOfType<bool>()) return FlagValues::kTrueOrFalse;
    if (IsWhole<int>() || IsWhole<int64_t>() || IsWhole<uint64_t>()) return FlagValues::kWholeNumbers;
    if (flag_->IsOfType<double>() || flag_->IsOfType<float>()) return FlagValues::kNumbers;
    return FlagValues::kOther;
  }
  std::string Help() const override { return flag_->Help(); }
  std::string Default() const override { return flag_->DefaultValue(); }
  bool Set(absl::string_view text, std::string* error) override { return flag_->ParseFrom(text, error); }

 private:
  template <typename T>
  bool IsWhole() const {
    return flag_->IsOfType<T>() || flag_->IsOfType<std::optional<T>>();
  }

  absl::CommandLineFlag* flag_;
};

// The program's own flags, without those of Abseil's libraries.
class ProgramFlags {
 public:
  ProgramFlags() {
    for (const auto& [name, flag] : absl::GetAllFlags()) {
      if (!absl::StrContains(flag->Filename(), "absl/flags")) own_.emplace(std::string(name), AbslFlag(flag));
    }
    for (auto& [name, flag] : own_) by_name_.emplace(name, &flag);
  }
  ProgramFlags(const ProgramFlags&) = delete;
  ProgramFlags& operator=(const ProgramFlags&) = delete;

  const CommandFlags& by_name() const { return by_name_; }

 private:
  std::map<std::string, AbslFlag> own_;
  CommandFlags by_name_;
};

}  // namespace

std::optional<int> ParseFlags(int argc, char** argv, absl::string_view about, std::vector<std::string>* positional) {
  return ParseFlags(argc, argv, about, ProgramFlags().by_name(), positional);
}

absl::StatusOr<bool> ParseFlagList(const std::vector<std::string>& arguments, std::vector<std::string>* positional) {
  return ParseFlagList(arguments, ProgramFlags().by_name(), positional);
}

std::string HelpText(absl::string_view program, absl::string_view about) {
  return HelpText(program, about, ProgramFlags().by_name());
}

}  // namespace tandem
