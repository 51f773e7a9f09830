// Losses as Compile takes them: by Keras' name, one of frontends/losses.h, or a function of one's own. On
// probabilities, as Keras' default, unless the loss is given with `from_logits`.
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
#include "base/source_location.h"
#include "frontends/losses.h"
#include "frontends/part_config.h"
#include "graph/tensor.h"

namespace tandem::keras {

// Of labels and predictions; a scalar unless the reduction is kNone. Of the options weights and reduction are used.
using LossFn = std::function<Tensor(const Tensor& labels, const Tensor& predictions,
                                    const tandem::losses::LossOptions& options, SourceLocation loc)>;

// The loss of an output.
class LossArg {
 public:
  // None: the output has no loss.
  LossArg() = default;
  // The functions of Keras 2.15, mean_squared_error, sparse_categorical_crossentropy and so on, its short names (mse,
  // mae, mape, msle, bce, kld, and those in capitals) and its classes, MeanSquaredError. Another name is an error of
  // the call, and status() has it.
  LossArg(const char* name);         // NOLINT: implicit
  LossArg(const std::string& name);  // NOLINT: implicit
  // losses::MeanSquaredError and the like.
  LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const tandem::losses::LossOptions&,  // NOLINT: implicit
                         SourceLocation));
  LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const tandem::losses::HuberOptions&,  // NOLINT: implicit
                         SourceLocation));
  LossArg(Tensor (*loss)(const Tensor&, const Tensor&, const tandem::losses::FocalOptions&,  // NOLINT: implicit
                         SourceLocation));
  // Of labels and predictions: the losses of examples, [b] or [b, ...], which are weighted and reduced, or a scalar,
  // which takes no weights.
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, LossArg> &&
           std::is_invocable_r_v<Tensor, F, const Tensor&, const Tensor&>) LossArg(F&& loss)  // NOLINT: implicit
      : function_(Own(std::forward<F>(loss))) {}
  // With what a file says of it.
  LossArg(PartConfig::Value config, LossFn function) : config_(std::move(config)), function_(std::move(function)) {}

  bool empty() const { return function_ == nullptr && status_.ok(); }
  const absl::Status& status() const { return status_; }

  Tensor operator()(const Tensor& labels, const Tensor& predictions, const tandem::losses::LossOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;

  // What Keras' files have: the name as it was given, or a class and its arguments; null for a function of one's own.
  const PartConfig::Value& config() const { return config_; }

 private:
  static LossFn Own(std::function<Tensor(const Tensor&, const Tensor&)> loss);

  absl::Status status_;
  PartConfig::Value config_;
  LossFn function_;
};

// InvalidArgument, with the names that there are, for one that LossArg does not take.
absl::StatusOr<LossArg> LossByName(absl::string_view name);
// The function of a class, "mean_squared_error" of "MeanSquaredError"; the name itself where there is none.
std::string LossFunctionName(absl::string_view class_name);
// What a file says of a loss that is a class. InvalidArgument as of InitializerFromConfig; also for a reduction that
// training has no use for and an axis that is not the last.
absl::StatusOr<LossArg> LossFromConfig(const PartConfig& config);

namespace losses {

struct CrossEntropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;  // as in tandem::losses::LossOptions
};
// Keras' classes with arguments.
LossArg BinaryCrossEntropy(const CrossEntropyOptions& options = {});
LossArg CategoricalCrossEntropy(const CrossEntropyOptions& options = {});
struct SparseCrossEntropyOptions {
  bool from_logits = false;
};
// Labels that are floating-point numbers are cut to whole ones, as Keras does.
LossArg SparseCategoricalCrossEntropy(const SparseCrossEntropyOptions& options = {});
LossArg Huber(double delta = 1);

struct FocalOptions {
  double gamma = 2;
  double alpha = 0.25;
  bool apply_class_balancing = false;  // binary only
  bool from_logits = false;
  double label_smoothing = 0;
};
LossArg BinaryFocalCrossEntropy(const FocalOptions& options = {});
LossArg CategoricalFocalCrossEntropy(const FocalOptions& options = {});

}  // namespace losses
}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LOSSES_H_
