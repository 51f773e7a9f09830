// The optimizer of a compiled model: a Keras name, one of optimizers.h with its description for files, or any of
// Tandem's.
#ifndef TANDEM_FRONTENDS_KERAS_OPTIMIZER_H_
#define TANDEM_FRONTENDS_KERAS_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/optimizer.h"
#include "frontends/part_config.h"

namespace tandem::keras {

// One tensor of an optimizer's state in a file.
struct OptimizerSlot {
  std::string name;      // "Adam/m/dense/kernel:0"
  std::string variable;  // the variable that it belongs to and whose shape it has, "dense/kernel"
  std::string slot;      // Tandem's variable, "dense/kernel/Adam"; empty if there is none: then the file gets zeros
};
// The order of an optimizer's tensors in a file.
enum class SlotLayout : int8_t {
  kKeras2,  // 2.11 to 2.15; also used by Keras 3
  kLegacy,  // before 2.11: first slot of all variables, then the second, and so on
};

class Optimizer {
 public:
  // By name, in any case: sgd, rmsprop, adam, adamw, adamax, nadam, adagrad, adadelta, ftrl and lion, with the defaults
  // of optimizers.h. With another name, Minimize is an error, which status() also returns.
  Optimizer(const char* name);         // NOLINT: implicit
  Optimizer(const std::string& name);  // NOLINT: implicit
  // Any of Tandem's optimizers; files cannot describe it.
  Optimizer(tandem::Optimizer optimizer) : optimizer_(std::move(optimizer)) {}  // NOLINT: implicit

  // The state of one variable: Keras' names and the numbers of the slots. A further group comes after the first for all
  // variables.
  using Group = std::vector<std::pair<const char*, int>>;
  Optimizer(PartConfig config, tandem::Optimizer optimizer, std::vector<Group> groups)
      : optimizer_(std::move(optimizer)), config_(std::move(config)), groups_(std::move(groups)) {}

  // InvalidArgument for an unknown name.
  const absl::Status& status() const { return status_; }
  TrainOp Minimize(const Tensor& loss, const MinimizeOptions& options = {},
                   SourceLocation loc = SourceLocation::Current()) const;
  const tandem::Optimizer& optimizer() const { return optimizer_; }

  // Keras' class ("Adam"; files of 2.11 and later write "Custom>Adam") and arguments; not named() for one of Tandem's
  // optimizers. A learning rate is a number, rounded to float32 as Keras does, or a schedule's config; null for a
  // schedule without one.
  const PartConfig& config() const { return config_; }

  // The tensors that follow "iteration" in a file, for the trainable variables in Keras' order; empty for one of
  // Tandem's.
  std::vector<OptimizerSlot> Slots(const std::vector<std::string>& variables,
                                   SlotLayout layout = SlotLayout::kKeras2) const;
  // Slots that files do not have, and the value that all of their elements have after `iteration` steps: Nadam's
  // product.
  std::vector<std::pair<std::string, double>> SlotsOfIteration(const std::vector<std::string>& variables,
                                                               int64_t iteration) const;

 private:
  absl::Status status_;
  tandem::Optimizer optimizer_;
  PartConfig config_;
  std::vector<Group> groups_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_OPTIMIZER_H_
