// The description of a part of a model in a model file: Keras' class name and the arguments to make it again.
#ifndef TANDEM_FRONTENDS_PART_CONFIG_H_
#define TANDEM_FRONTENDS_PART_CONFIG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// A part is an initialiser, a regulariser, a loss, an optimizer or a schedule. In a file it looks like {"class_name":
// "RandomUniform", "config": {"minval": -0.05, "maxval": 0.05, "seed": null}}.
struct PartConfig {
  // JSON's null, a truth value, a whole number, a number, a string, a list of numbers, or another part, such as an
  // optimizer's schedule.
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<double>,
                             std::shared_ptr<const PartConfig>>;

  // Class name in Keras 2.15, such as "GlorotUniform". Empty for a part without a name, such as a lambda.
  std::string class_name;
  std::vector<std::pair<std::string, Value>> values;  // the arguments, in Keras' order

  // True if the part has a class name, so that a file can describe it.
  bool named() const { return !class_name.empty(); }
};

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_PART_CONFIG_H_
