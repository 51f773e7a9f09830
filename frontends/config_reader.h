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

// Usage: ask for every key of a config, then call Finish for the first error.
class ConfigReader {
 public:
  // `kind` is for messages, such as "initializer".
  ConfigReader(absl::string_view kind, const PartConfig& config) : kind_(kind), config_(config) {}

  // Return the value of the key, or `otherwise` if it is absent or null. A value of another type, or a number that is
  // not finite, is an error.
  double Number(absl::string_view key, double otherwise);
  bool Flag(absl::string_view key, bool otherwise);
  std::string Text(absl::string_view key, absl::string_view otherwise);
  // Returns a whole number of at least 1.
  int64_t Count(absl::string_view key, int64_t otherwise);
  // Returns a list; makes a list of a single number; empty if the key is absent or null.
  std::vector<double> Numbers(absl::string_view key);
  // Returns nullopt if the key is absent or null.
  std::optional<double> OptionalNumber(absl::string_view key);
  // Returns the part that is the key's value; null if it is absent, null or another value.
  const PartConfig* Part(absl::string_view key);
  bool Has(absl::string_view key) const;

  // Marks keys as known that have no effect here.
  void Ignore(std::initializer_list<absl::string_view> keys);
  // Records an error that says what the value of `key` must be, unless there is an error already.
  void Fail(absl::string_view key, absl::string_view must_be);

  // Returns the first error. Logs keys that nobody has asked for.
  absl::Status Finish() const;

 private:
  // Returns null if the key is absent.
  const PartConfig::Value* Find(absl::string_view key);

  const std::string kind_;
  const PartConfig& config_;
  std::set<std::string, std::less<>> known_;
  absl::Status status_;
};

// Returns "there is no initializer \"glorot\"; did you mean \"glorot_uniform\"? The names are zeros, ones".
std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names);

// Returns InvalidArgument with that text.
absl::Status UnknownNameError(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_CONFIG_READER_H_
