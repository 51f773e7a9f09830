// The flags of one run of a tool. They are the fields of a struct, and no other code of the process sees them.
//
//   struct DumpFlags : FlagTable {
//     Flag<std::string> mode{this, "mode", "", "train, eval or predict"};
//     Flag<bool> costs{this, "costs", false, "print the times of commands"};
//   };
//   absl::Status Dump(const DumpFlags& flags, const std::vector<std::string>& arguments) { ... *flags.mode ... }
//   int TandemDump(int argc, char** argv) { return RunToolProgram<DumpFlags>(argc, argv, "shows a model", Dump); }
//
// An ABSL_FLAG is a flag of the whole program. Those of several tools in one library would clash with each other, and
// with those of every program that links the library.
#ifndef TANDEM_BASE_FLAG_TABLE_H_
#define TANDEM_BASE_FLAG_TABLE_H_

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/flags/marshalling.h"
#include "absl/strings/string_view.h"
#include "base/command_flag.h"

namespace tandem {

// The base of a struct of flags.
class FlagTable {
 public:
  FlagTable() = default;
  FlagTable(const FlagTable&) = delete;
  FlagTable& operator=(const FlagTable&) = delete;

  const CommandFlags& by_name() const { return by_name_; }

 private:
  template <typename T>
  friend class Flag;

  CommandFlags by_name_;
};

namespace internal {

template <typename T>
struct FlagValuesOf {
  static constexpr FlagValues kValues = std::is_same_v<T, bool>       ? FlagValues::kTrueOrFalse
                                        : std::is_integral_v<T>       ? FlagValues::kWholeNumbers
                                        : std::is_floating_point_v<T> ? FlagValues::kNumbers
                                                                      : FlagValues::kOther;
};
template <typename T>
struct FlagValuesOf<std::optional<T>> : FlagValuesOf<T> {};

}  // namespace internal

// A field of a FlagTable. T is a type that an ABSL_FLAG may have, and is written on command lines in the same way; an
// empty std::optional is the default "none".
template <typename T>
class Flag final : public CommandFlag {
 public:
  // `name` is that of the field; `help` outlives the flag.
  Flag(FlagTable* table, absl::string_view name, T otherwise, absl::string_view help)
      : help_(help), otherwise_(otherwise), value_(std::move(otherwise)) {
    table->by_name_.emplace(name, this);
  }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

  FlagValues values() const override { return internal::FlagValuesOf<T>::kValues; }
  std::string Help() const override { return std::string(help_); }
  std::string Default() const override { return absl::UnparseFlag(otherwise_); }
  bool Set(absl::string_view text, std::string* error) override {
    T value{};
    if (!absl::ParseFlag(text, &value, error)) return false;
    value_ = std::move(value);
    return true;
  }

 private:
  const absl::string_view help_;
  const T otherwise_;
  T value_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_FLAG_TABLE_H_
