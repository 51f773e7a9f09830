// Losses for Model::Compile: a Keras name, a function of frontends/losses.h, or a user's function. They expect
// probabilities, which is Keras' default, unless the loss is made with `from_logits`.
#ifndef TANDEM_FRONTENDS_KERAS_LOSSES_H_
#define TANDEM_FRONTENDS_KERAS_LOSSES_H_

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/part_config.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace keras {

// Computes the loss from labels and predictions. It is a scalar unless the reduction is kNone. Only the options
// `weights` and `reduction` are used.
using LossFn = std::function<Tensor(const Tensor& labels, const Tensor& predictions,
                                    const tandem::losses::LossOptions& options, SourceLocation loc)>;

// The loss of one output of a model.
class LossArg {
 public:
  // The output has no loss.
  LossArg() = default;
  // By name: the functions of Keras 2.15, mean_squared_error, sparse_categorical_crossentropy and so on; its short
  // names (mse, mae, mape, msle, bce, kld, also in capitals); and its classes, such as MeanSquaredError. With another
  // name, calling the loss is an error, which status() also returns.
  LossArg(const char* name);         // NOLINT: implicit
  LossArg(const std::string& name);  // NOLINT: implicit
  // A function of frontends/losses.h, such as losses::MeanSquaredError.
  LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const tandem::losses::LossOptions&,  // NOLINT: implicit
                         SourceLocation));
  LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const tandem::losses::HuberOptions&,  // NOLINT: implicit
                         SourceLocation));
  LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const tandem::losses::FocalOptions&,  // NOLINT: implicit
                         SourceLocation));
  // A user's function of labels and predictions. It returns the losses of examples, [b] or [b, ...], which are then
  // weighted and reduced, or a scalar, which cannot be weighted.
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, LossArg> &&
           std::is_invocable_r_v<Tensor, F, const Tensor&, const Tensor&>) LossArg(F&& loss)  // NOLINT: implicit
      : function_(Own(std::forward<F>(loss))) {}
  // A loss together with its description in a model file.
  LossArg(PartConfig::Value config, LossFn function) : config_(std::move(config)), function_(std::move(function)) {}

  bool empty() const { return function_ == nullptr && status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Computes the loss; an unknown name is an error at `loc`.
  Tensor operator()(const Tensor& labels, const Tensor& predictions, const tandem::losses::LossOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;

  // The description in Keras' files: the name as the user wrote it, or a class and its arguments; null for a user's
  // function.
  const PartConfig::Value& config() const { return config_; }

 private:
  static LossFn Own(std::function<Tensor(const Tensor&, const Tensor&)> loss);

  absl::Status status_;
  PartConfig::Value config_;
  LossFn function_;
};

// InvalidArgument, with the known names, for a name that LossArg does not accept.
absl::StatusOr<LossArg> LossByName(absl::string_view name);
// Returns Keras' function name for a loss class, such as "mean_squared_error" for "MeanSquaredError". Returns
// `class_name` itself if there is no such class.
std::string LossFunctionName(absl::string_view class_name);
// Makes a loss from its class and arguments in a model file. InvalidArgument as for InitializerFromConfig; also for a
// reduction that training cannot use and for an axis that is not the last.
absl::StatusOr<LossArg> LossFromConfig(const PartConfig& config);

namespace losses {

struct CrossEntropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;  // share of the labels that smoothing moves, as in tandem::losses::LossOptions
};
// Keras' loss classes, for which arguments can be set.
LossArg BinaryCrossEntropy(const CrossEntropyOptions& options = {});
LossArg CategoricalCrossEntropy(const CrossEntropyOptions& options = {});
struct SparseCrossEntropyOptions {
  bool from_logits = false;
};
// Labels that are floating-point numbers are truncated to whole numbers, as in Keras.
LossArg SparseCategoricalCrossEntropy(const SparseCrossEntropyOptions& options = {});
// Quadratic for errors up to `delta`, linear beyond.
LossArg Huber(double delta = 1);

struct FocalOptions {
  double gamma = 2;
  double alpha = 0.25;
  bool apply_class_balancing = false;  // only for the binary loss
  bool from_logits = false;
  double label_smoothing = 0;
};
// As tandem::losses::BinaryFocalCrossEntropy and CategoricalFocalCrossEntropy.
LossArg BinaryFocalCrossEntropy(const FocalOptions& options = {});
LossArg CategoricalFocalCrossEntropy(const FocalOptions& options = {});

}  // namespace losses
}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_LOSSES_H_
