// What a compiled model takes as its optimizer: one by Keras' name, one of optimizers.h with what files say of it, or
// any of Tandem's.
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

// One tensor of an optimizer's state, as a file has it.
struct OptimizerSlot {
  std::string name;      // "Adam/m/dense/kernel:0"
  std::string variable;  // "dense/kernel", whose shape it has
  std::string slot;      // Tandem's variable, "dense/kernel/Adam"; empty where there is none: then it is 0
};
// The order of files.
enum class SlotLayout : int8_t {
  kKeras2,  // 2.11 to 2.15; Keras 3 has the same
  kLegacy,  // before 2.11: one slot of all variables behind the other
};

class Optimizer {
 public:
  // By name, whatever the case: sgd, rmsprop, adam, adamw, adamax, nadam, adagrad, adadelta, ftrl and lion, with the
  // defaults of optimizers.h. Another is an error of Minimize, and status() has it.
  Optimizer(const char* name);         // NOLINT: implicit
  Optimizer(const std::string& name);  // NOLINT: implicit
  // Any; no file can name it.
  Optimizer(tandem::Optimizer optimizer) : optimizer_(std::move(optimizer)) {}  // NOLINT: implicit

  // The state of one variable: Keras' names and the slots that they are; what follows is behind all of these.
  using Group = std::vector<std::pair<const char*, int>>;
  Optimizer(PartConfig config, tandem::Optimizer optimizer, std::vector<Group> groups)
      : optimizer_(std::move(optimizer)), config_(std::move(config)), groups_(std::move(groups)) {}

  // InvalidArgument for an unknown name.
  const absl::Status& status() const { return status_; }
  TrainOp Minimize(const Tensor& loss, const MinimizeOptions& options = {},
                   SourceLocation loc = SourceLocation::Current()) const;
  const tandem::Optimizer& optimizer() const { return optimizer_; }

  // Keras' class ("Adam"; files of 2.11 and later write "Custom>Adam") and arguments; not named() for one of Tandem's.
  // A learning rate is a number, rounded to float32 as Keras does, or a schedule's config; null for one without.
  const PartConfig& config() const { return config_; }

  // What follows "iteration" in a file, for the trainable variables in Keras' order; empty for one of Tandem's.
  std::vector<OptimizerSlot> Slots(const std::vector<std::string>& variables,
                                   SlotLayout layout = SlotLayout::kKeras2) const;
  // Slots that no file has, with the number that all of their elements are after `iteration` steps: Nadam's product.
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
