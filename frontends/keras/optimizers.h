// The optimizers of Keras 2.15 with its formulas and names of arguments. t counts steps from 1; slots are zeros at
// first where nothing else is said.
//
//   model.Compile({.optimizer = keras::optimizers::Adam({.learning_rate = 1e-3, .clipnorm = 1}), ...});
//
// What all have: `learning_rate`, a number that callbacks can set, or a schedule; `weight_decay`, w -= lr weight_decay
// w, 0: none; `clipnorm` scales each variable's gradient to that norm, `global_clipnorm` all of them together,
// `clipvalue` cuts every element, at most one of these and 0: none; `use_ema` keeps averages of the weights, a =
// ema_momentum a + (1 - ema_momentum) w, which evaluations and predictions read (Optimizer::WithMovingAverage; Keras
// reads them at the end of fit).
#ifndef TANDEM_FRONTENDS_KERAS_OPTIMIZERS_H_
#define TANDEM_FRONTENDS_KERAS_OPTIMIZERS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/keras/optimizer.h"
#include "frontends/keras/schedules.h"
#include "frontends/part_config.h"

namespace tandem::keras::optimizers {

struct SGDOptions {
  Rate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// m = momentum m - lr g; w += m (Nesterov: w += momentum m - lr g, with the new m). Without momentum w -= lr g. Slot
// "<variable>/SGD" (m), with momentum.
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
// v = rho v + (1 - rho) g^2; i = lr g / sqrt(v + epsilon), centered with v - a^2 in place of v, where a = rho a + (1 -
// rho) g; w -= i, or with momentum m = momentum m + i; w -= m. Slots "<variable>/RMSProp" (v), then m and a where they
// are used, "<variable>/RMSProp_1" and so on.
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
// (sqrt(v) + epsilon); amsgrad (Reddi et al. 2018) with h = max(h, v) in place of v. Slots "<variable>/Adam" (m),
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
// Adam with a decay, which its slots are called after: "<variable>/AdamW".
Optimizer AdamW(const AdamWOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Those of Adam without amsgrad.
struct AdamaxOptions {
  Rate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// The formulas and slots of tandem::optimizers::Adamax and Nadam. (Keras 2.15's own Nadam takes other steps where it
// traces them: it multiplies the product of its formula once for each variable or not at all.)
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
// As tandem::optimizers::Adagrad.
Optimizer Adagrad(const AdagradOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct AdadeltaOptions {
  Rate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// As tandem::optimizers::Adadelta.
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
// As tandem::optimizers::Ftrl, of the decayed weights where there is a decay.
Optimizer Ftrl(const FtrlOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct LionOptions {
  Rate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  double weight_decay = 0, clipnorm = 0, clipvalue = 0, global_clipnorm = 0;
  bool use_ema = false;
  double ema_momentum = 0.99;
};
// As tandem::optimizers::Lion.
Optimizer Lion(const LionOptions& options = {}, SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::keras::optimizers

namespace tandem::keras {

// InvalidArgument, with the names that there are, for one that Optimizer does not take.
absl::StatusOr<Optimizer> OptimizerByName(absl::string_view name, SourceLocation loc = SourceLocation::Current());
// What a file says: the class with or without "Custom>" before it. Keras' older names lr and decay count too; what is
// absent has the default. Optimizers from before Keras 2.11 keep their formula: RMSprop without momentum then adds
// epsilon to the root. InvalidArgument as of InitializerFromConfig.
absl::StatusOr<Optimizer> OptimizerFromConfig(const PartConfig& config, SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_OPTIMIZERS_H_
