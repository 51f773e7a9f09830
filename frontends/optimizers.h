// The optimizers, named by their source: GradientDescent, Momentum and Adam have the formulas of tf.compat.v1.train,
// RMSprop those of Keras. `learning_rate` is a number or a schedule (frontends/schedules.h).
//
//   return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 1e-3}).Minimize(loss));
#ifndef TANDEM_FRONTENDS_OPTIMIZERS_H_
#define TANDEM_FRONTENDS_OPTIMIZERS_H_

#include "frontends/optimizer.h"
#include "frontends/schedules.h"

namespace tandem::optimizers {

struct GradientDescentOptions {
  LearningRate learning_rate = 0.01;
  double clip_global_norm = 0;  // 0: no clipping; on the gradients of the global batch
  double clip_value = 0;
};
// w -= lr g.
Optimizer GradientDescent(const GradientDescentOptions& options);
Optimizer SGD(const GradientDescentOptions& options);

struct MomentumOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0.9;
  bool use_nesterov = false;
  double clip_global_norm = 0;
  double clip_value = 0;
};
// a = momentum a + g; w -= lr a (Nesterov: w -= lr (g + momentum a)). Slot "<variable>/Momentum".
Optimizer Momentum(const MomentumOptions& options);

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip_global_norm = 0;
  double clip_value = 0;
};
// Kingma and Ba 2014, in the form before section 2.1 ("epsilon hat"): m = beta1 m + (1 - beta1) g,
// v = beta2 v + (1 - beta2) g^2, w -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon), t = 1 at the
// first step. Slots "<variable>/Adam" (m) and "<variable>/Adam_1" (v).
Optimizer Adam(const AdamOptions& options);

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  double clip_global_norm = 0;
  double clip_value = 0;
};
// s = rho s + (1 - rho) g^2; w -= lr g / (sqrt(s) + epsilon), or with momentum a = momentum a + lr g / (sqrt(s) +
// epsilon); w -= a. Slots "<variable>/RMSProp" (s) and "<variable>/RMSProp_1" (a), both from 0.
Optimizer RMSprop(const RMSpropOptions& options);

}  // namespace tandem::optimizers

#endif  // TANDEM_FRONTENDS_OPTIMIZERS_H_
