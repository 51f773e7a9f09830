// The optimizers of Keras 2.15 with its formulas and names of arguments. t counts steps from 1; slots start from zero
// unless stated otherwise.
//
//   model.Compile({.optimizer = keras::optimizers::Adam({.learning_rate = 1e-3, .clipnorm = 1}), ...});
//
// Common options: `learning_rate`, a number that callbacks can set, or a schedule; `weight_decay`, w -= lr weight_decay
// w, 0: none; `clipnorm` scales each variable's gradient to at most that norm, `global_clipnorm` all gradients
// together, `clipvalue` clips every element, at most one of the three may be set, 0: none; `use_ema` keeps averages of
// the weights, a = ema_momentum a + (1 - ema_momentum) w, which evaluations and predictions use
// (Optimizer::WithMovingAverage; Keras copies them into the weights at the end of fit).
#ifndef TANDEM_FRONTENDS_KERAS_OPTIMIZERS_H_
#define TANDEM_FRONTENDS_KERAS_OPTIMIZERS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/keras/optimizer.h"
#include "tandem/frontends/keras/schedules.h"
#include "tandem/frontends/part_config.h"

namespace TANDEM_API tandem {
namespace keras::optimizers {

struct SGDOptions {
  Rate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// m = momentum m - lr g; w += m (Nesterov: w += momentum m - lr g, with the new m). Without momentum w -= lr g. Slot
// "<variable>/SGD" (m), only with momentum.
Optimizer SGD(const SGDOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct RMSpropOptions {
  Rate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// v = rho v + (1 - rho) g^2; i = lr g / sqrt(v + epsilon), or if centered with v - a^2 instead of v, where a = rho a +
// (1 - rho) g; w -= i, or with momentum m = momentum m + i; w -= m. Slots "<variable>/RMSProp" (v), then m and a if
// they are used, "<variable>/RMSProp_1" and so on.
Optimizer RMSprop(const RMSpropOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct AdamOptions {
  Rate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// m = beta_1 m + (1 - beta_1) g; v = beta_2 v + (1 - beta_2) g^2; w -= lr sqrt(1 - beta_2^t) / (1 - beta_1^t) m /
// (sqrt(v) + epsilon); with amsgrad (Reddi et al. 2018) h = max(h, v) instead of v. Slots "<variable>/Adam" (m),
// "<variable>/Adam_1" (v), "<variable>/Adam_2" (h).
Optimizer Adam(const AdamOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct AdamWOptions {
  Rate learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  double clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// Adam with a weight decay; its slots are named "<variable>/AdamW", "<variable>/AdamW_1" and so on.
Optimizer AdamW(const AdamWOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// The options of Adam without amsgrad.
struct AdamaxOptions {
  Rate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// Optimizers with the formulas and slots of tandem::optimizers::Adamax and Nadam. (Keras 2.15's own Nadam differs when
// it is traced: it then multiplies the product in its formula once for each variable, or not at all.)
Optimizer Adamax(const AdamaxOptions& options = {}, SourceLocation loc = SourceLocation::Current());
using NadamOptions = AdamaxOptions;
Optimizer Nadam(const NadamOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct AdagradOptions {
  Rate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// Same as tandem::optimizers::Adagrad.
Optimizer Adagrad(const AdagradOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct AdadeltaOptions {
  Rate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// Same as tandem::optimizers::Adadelta.
Optimizer Adadelta(const AdadeltaOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct FtrlOptions {
  Rate learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;
  double beta = 0;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// Same as tandem::optimizers::Ftrl, applied to the decayed weights if there is a decay.
Optimizer Ftrl(const FtrlOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct LionOptions {
  Rate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// Same as tandem::optimizers::Lion.
Optimizer Lion(const LionOptions& options = {}, SourceLocation loc = SourceLocation::Current());

}  // namespace keras::optimizers
}  // namespace tandem

namespace TANDEM_API tandem {
namespace keras {

// InvalidArgument, with the known names, for a name that Optimizer does not accept.
absl::StatusOr<Optimizer> OptimizerByName(absl::string_view name, SourceLocation loc = SourceLocation::Current());
// Makes an optimizer from its class (with or without "Custom>") and arguments in a model file. Keras' older names lr
// and decay are accepted; missing values have their defaults. Optimizers from before Keras 2.11 keep their formula:
// RMSprop without momentum then adds epsilon to the root. InvalidArgument as for InitializerFromConfig.
absl::StatusOr<Optimizer> OptimizerFromConfig(const PartConfig& config, SourceLocation loc = SourceLocation::Current());

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_OPTIMIZERS_H_
