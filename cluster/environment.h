// Variables of a process's environment, as a value, so that whoever reads them can be tested without setting any.
#ifndef TANDEM_CLUSTER_ENVIRONMENT_H_
#define TANDEM_CLUSTER_ENVIRONMENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {}
  // Of this process, now.
  static Environment OfProcess();

  // An empty variable counts as one that is not set.
  bool Has(absl::string_view name) const { return !Get(name).empty(); }
  // "" when it is not set.
  std::string Get(absl::string_view name) const;

  // The variable as a whole number in [least, most]. What is wrong, and what is expected, goes to `errors`; then the
  // result is `least`.
  int64_t Number(absl::string_view name, int64_t least, int64_t most, std::vector<std::string>* errors) const;

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_ENVIRONMENT_H_
