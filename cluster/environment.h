// Environment: the variables of a process's environment as a value, so that code that reads them can be tested easily.
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
  // Returns the current variables of this process.
  static Environment OfProcess();

  // True if the variable is set and not empty.
  bool Has(absl::string_view name) const { return !Get(name).empty(); }
  // Returns "" if the variable is not set.
  std::string Get(absl::string_view name) const;

  // Returns the variable as a whole number in [least, most]. If it is not one, adds what is wrong and what is expected
  // to `errors` and returns `least`.
  int64_t Number(absl::string_view name, int64_t least, int64_t most, std::vector<std::string>* errors) const;

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_ENVIRONMENT_H_
