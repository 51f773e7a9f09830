// Reads the values of a PartConfig. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_CONFIG_READER_H_
#define TANDEM_FRONTENDS_CONFIG_READER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "frontends/part_config.h"

namespace tandem::frontends {

// Every key of a config is asked for; then Finish says what was wrong.
class ConfigReader {
 public:
  // `kind`: "initializer", for messages.
  ConfigReader(absl::string_view kind, const PartConfig& config) : kind_(kind), config_(config) {}

  // What the key says, `otherwise` where it is absent or null. A value of another type, or a number that is not finite,
  // is an error.
  double Number(absl::string_view key, double otherwise);
  bool Flag(absl::string_view key, bool otherwise);
  std::string Text(absl::string_view key, absl::string_view otherwise);
  // A whole number of at least 1.
  int64_t Count(absl::string_view key, int64_t otherwise);
  // A list, or one number as a list of it; empty where it is absent or null.
  std::vector<double> Numbers(absl::string_view key);
  // Nothing where it is absent or null.
  std::optional<double> OptionalNumber(absl::string_view key);
  // The part that the key names, or null: where it is absent, null or another value.
  const PartConfig* Part(absl::string_view key);
  bool Has(absl::string_view key) const;

  // Keys that change nothing here.
  void Ignore(std::initializer_list<absl::string_view> keys);
  // Records an error with what the value of `key` must be, unless there is one.
  void Fail(absl::string_view key, absl::string_view must_be);

  // The first error. A key that nobody asked for is a line in the log.
  absl::Status Finish() const;

 private:
  // Null where it is absent.
  const PartConfig::Value* Find(absl::string_view key);

  const std::string kind_;
  const PartConfig& config_;
  std::set<std::string, std::less<>> known_;
  absl::Status status_;
};

// "there is no initializer \"glorot\"; did you mean \"glorot_uniform\"? The names are zeros, ones".
std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names);

// Calls of InvalidArgument with that text.
absl::Status UnknownNameError(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_CONFIG_READER_H_
