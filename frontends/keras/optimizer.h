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
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/optimizer.h"
#include "tandem/frontends/part_config.h"

namespace TANDEM_API tandem {
namespace keras {

// One tensor of an optimizer's state in a model file.
struct OptimizerSlot {
  std::string name;      // the name in the file, "Adam/m/dense/kernel:0"
  std::string variable;  // the variable whose state and shape it has, "dense/kernel"
  // The slot's variable in Tandem, "dense/kernel/Adam". Empty if Tandem has no such slot; then zeros are written.
  std::string slot;
};
// The order of an optimizer's state tensors in a model file.
enum class SlotLayout : int8_t {
  kKeras2,  // as Keras 2.11 to 2.15 write it; also used for Keras 3
  kLegacy,  // as older Keras writes it: the first slot of all variables, then the second, and so on
};

// An optimizer together with what model files say of it.
class Optimizer {
 public:
  // By name, in any case: sgd, rmsprop, adam, adamw, adamax, nadam, adagrad, adadelta, ftrl and lion, with the defaults
  // of optimizers.h. With another name, Minimize is an error, which status() also returns.
  Optimizer(const char* name);         // NOLINT: implicit
  Optimizer(const std::string& name);  // NOLINT: implicit
  // Any of Tandem's optimizers. Model files cannot describe such an optimizer.
  Optimizer(tandem::Optimizer optimizer) : optimizer_(std::move(optimizer)) {}  // NOLINT: implicit

  // Slots of one variable that files store together: Keras' names, and the numbers of Tandem's slots. A file has the
  // first group of every variable, then the second group of every variable, and so on.
  using Group = std::vector<std::pair<const char*, int>>;
  Optimizer(PartConfig config, tandem::Optimizer optimizer, std::vector<Group> groups)
      : optimizer_(std::move(optimizer)), config_(std::move(config)), groups_(std::move(groups)) {}

  // InvalidArgument for an unknown name.
  const absl::Status& status() const { return status_; }
  // As tandem::Optimizer::Minimize.
  TrainOp Minimize(const Tensor& loss, const MinimizeOptions& options = {},
                   SourceLocation loc = SourceLocation::Current()) const;
  // The optimizer without its description.
  const tandem::Optimizer& optimizer() const { return optimizer_; }

  // Keras' class ("Adam"; files of Keras 2.11 and later write "Custom>Adam") and arguments. Not named() for one of
  // Tandem's optimizers. The learning rate is a number, rounded to float32 as Keras does, or the config of a schedule;
  // it is null for a schedule that has no config.
  const PartConfig& config() const { return config_; }

  // Returns the tensors that follow "iteration" in a model file, for the trainable variables in Keras' order. Empty for
  // one of Tandem's optimizers.
  std::vector<OptimizerSlot> Slots(const std::vector<std::string>& variables,
                                   SlotLayout layout = SlotLayout::kKeras2) const;
  // Returns the slots that model files do not contain, each with the value that all of its elements have after
  // `iteration` steps. Only Nadam has such a slot, a product over the steps.
  std::vector<std::pair<std::string, double>> SlotsOfIteration(const std::vector<std::string>& variables,
                                                               int64_t iteration) const;

 private:
  absl::Status status_;
  tandem::Optimizer optimizer_;
  PartConfig config_;
  std::vector<Group> groups_;
};

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_OPTIMIZER_H_
