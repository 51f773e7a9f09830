// The description of a part of a model in a model file: Keras' class name and the arguments to make it again.
#ifndef TANDEM_FRONTENDS_PART_CONFIG_H_
#define TANDEM_FRONTENDS_PART_CONFIG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tandem {

// For example {"class_name": "RandomUniform", "config": {"minval": -0.05, "maxval": 0.05, "seed": null}}: an
// initialiser, a regulariser, a loss, an optimizer or a schedule.
struct PartConfig {
  // JSON's null, a truth value, a whole number, a number, a string, a list of numbers, or another part, such as an
  // optimizer's schedule.
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<double>,
                             std::shared_ptr<const PartConfig>>;

  std::string class_name;  // class name in Keras 2.15: "GlorotUniform"; empty for a part without one, such as a lambda
  std::vector<std::pair<std::string, Value>> values;  // in Keras' order

  // True if a file can name the part.
  bool named() const { return !class_name.empty(); }
};

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_PART_CONFIG_H_
