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

// Reads a PartConfig (a Keras class name with arguments). Call a getter for every key that the config may have, then
// Finish, which returns the first error.
class ConfigReader {
 public:
  // `kind` is for messages, such as "initializer".
  ConfigReader(absl::string_view kind, const PartConfig& config) : kind_(kind), config_(config) {}

  // These return the value of the key, or `otherwise` if the key is absent or null. A value of another type, or a
  // number that is not finite, is recorded as an error.
  double Number(absl::string_view key, double otherwise);
  bool Flag(absl::string_view key, bool otherwise);
  std::string Text(absl::string_view key, absl::string_view otherwise);
  // As above, for a whole number of at least 1.
  int64_t Count(absl::string_view key, int64_t otherwise);
  // Returns the list of numbers, a list of one number if the value is a number, or an empty list if the key is absent
  // or null.
  std::vector<double> Numbers(absl::string_view key);
  // Returns nullopt if the key is absent or null.
  std::optional<double> OptionalNumber(absl::string_view key);
  // Returns the nested part (an object with a class name) that the key has as its value; null if the key is absent or
  // has another value.
  const PartConfig* Part(absl::string_view key);
  bool Has(absl::string_view key) const;

  // Marks keys as known although they have no effect here, so that Finish does not log them.
  void Ignore(std::initializer_list<absl::string_view> keys);
  // Records an error that says what the value of `key` must be, unless there is an error already.
  void Fail(absl::string_view key, absl::string_view must_be);

  // Returns the first error. Logs the keys of the config for which no getter was called.
  absl::Status Finish() const;

 private:
  // Returns the value of the key, or null if the key is absent. Marks the key as known.
  const PartConfig::Value* Find(absl::string_view key);

  const std::string kind_;
  const PartConfig& config_;
  std::set<std::string, std::less<>> known_;
  absl::Status status_;
};

// Returns a message such as "there is no initializer \"glorot\"; did you mean \"glorot_uniform\"? The names are zeros,
// ones".
std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names);

// Returns InvalidArgument with the text of UnknownName.
absl::Status UnknownNameError(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_CONFIG_READER_H_
