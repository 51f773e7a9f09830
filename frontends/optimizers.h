// Optimizers. GradientDescent, Momentum and Adam have the formulas of tf.compat.v1.train, the others those of Keras
// 2.15 or of the named paper, except for RMSprop's epsilon. `learning_rate` is a number or a schedule
// (frontends/schedules.h). t counts steps from 1; slots start from zero unless stated otherwise.
//
//   return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 1e-3}).Minimize(loss));
//
// WithGroup and WithMovingAverage (frontends/optimizer.h) work with all of them.
#ifndef TANDEM_FRONTENDS_OPTIMIZERS_H_
#define TANDEM_FRONTENDS_OPTIMIZERS_H_

#include <string>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/frontends/clipping.h"
#include "tandem/frontends/optimizer.h"
#include "tandem/frontends/schedules.h"

namespace TANDEM_API tandem {
namespace optimizers {

struct GradientDescentOptions {
  LearningRate learning_rate = 0.01;
  ClipOptions clip = {};  // clipping of the gradients of the global batch
};
// w -= lr g.
Optimizer GradientDescent(const GradientDescentOptions& options);
Optimizer SGD(const GradientDescentOptions& options);

struct MomentumOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0.9;
  bool use_nesterov = false;
  ClipOptions clip = {};
};
// a = momentum a + g; w -= lr a (Nesterov: w -= lr (g + momentum a)). Slot "<variable>/Momentum".
Optimizer Momentum(const MomentumOptions& options);

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  ClipOptions clip = {};
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
  bool epsilon_in_root = false;
  ClipOptions clip = {};
};
// s = rho s + (1 - rho) g^2; w -= lr g / (sqrt(s) + epsilon), or with momentum a = momentum a + lr g / (sqrt(s) +
// epsilon); w -= a. Slots "<variable>/RMSProp" (s) and "<variable>/RMSProp_1" (a), both from 0. With epsilon_in_root
// the denominator is sqrt(s + epsilon), as in tf.keras.optimizers.RMSprop of TensorFlow 2.11 and later, and with
// momentum also in the older tf.keras.optimizers.legacy.RMSprop. Without epsilon_in_root the formula is that of the
// legacy optimizer without momentum, and of PyTorch.
Optimizer RMSprop(const RMSpropOptions& options);

struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  // Variables whose name contains one of these strings do not decay.
  std::vector<std::string> exclude = {};
  ClipOptions clip = {};
};
// Loshchilov and Hutter 2019, as in Keras: Adam, and w -= lr weight_decay w. Variables whose name contains one of
// `exclude`, such as {"bias", "gamma", "beta"}, do not decay. Slots "<variable>/AdamW" (m) and "<variable>/AdamW_1"
// (v).
Optimizer AdamW(const AdamWOptions& options);

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  ClipOptions clip = {};
};
// Duchi et al. 2011: a += g^2; w -= lr g / sqrt(a + epsilon). Slot "<variable>/Adagrad" (a), which starts from the
// initial value.
Optimizer Adagrad(const AdagradOptions& options);

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
  ClipOptions clip = {};
};
// Zeiler 2012: a = rho a + (1 - rho) g^2; d = sqrt(u + epsilon) / sqrt(a + epsilon) g; u = rho u + (1 - rho) d^2;
// w -= lr d. Slots "<variable>/Adadelta" (a) and "<variable>/Adadelta_1" (u).
Optimizer Adadelta(const AdadeltaOptions& options);

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  ClipOptions clip = {};
};
// Kingma and Ba 2014, section 7.1: m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g|); w -= lr / (1 - beta1^t) m /
// (u + epsilon). Slots "<variable>/Adamax" (m) and "<variable>/Adamax_1" (u).
Optimizer Adamax(const AdamaxOptions& options);

struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  ClipOptions clip = {};
};
// Dozat 2015, with Keras' b(t) = beta1 (1 - 0.96^t / 2) and p the product of b(1) to b(t): Adam's m and v;
// w -= lr (b(t + 1) m / (1 - p b(t + 1)) + (1 - b(t)) g / (1 - p)) / (sqrt(v / (1 - beta2^t)) + epsilon).
// Slots "<variable>/Nadam" (m), "<variable>/Nadam_1" (v) and "<variable>/Nadam_2" (p, from 1, the same in all
// elements).
Optimizer Nadam(const NadamOptions& options);

struct FtrlOptions {
  LearningRate learning_rate = 0.001;  // must be positive at every step
  double learning_rate_power = -0.5;   // must be at most 0
  double initial_accumulator_value = 0.1;
  double l1 = 0;  // factor of the absolute values in the penalty, at least 0
  double l2 = 0;
  double l2_shrinkage = 0;  // factor of a further l2 penalty that is added to the gradient
  double beta = 0;
  ClipOptions clip = {};
};
// McMahan et al. 2013, "Ad click prediction": with q = -learning_rate_power, n' = n + g^2 and
// z += g + 2 l2_shrinkage w - (n'^q - n^q) / lr w, w = (min(max(z, -l1), l1) - z) / (n'^q / lr + 2 l2 + beta / lr); n =
// n'. Slots "<variable>/Ftrl" (n, from its initial value) and "<variable>/Ftrl_1" (z).
Optimizer Ftrl(const FtrlOptions& options);

struct LionOptions {
  LearningRate learning_rate = 0.0001;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.99;
  // Variables whose name contains one of these strings do not decay, as in AdamW.
  std::vector<std::string> exclude = {};
  ClipOptions clip = {};
};
// Chen et al. 2023: w -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay w); m = beta2 m + (1 - beta2) g.
// Slot "<variable>/Lion" (m).
Optimizer Lion(const LionOptions& options);

struct LambOptions {
  LearningRate learning_rate = 0.001;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  // For variables whose name contains one of these strings, there is no decay and the factor |w| / |r| is 1.
  std::vector<std::string> exclude = {};
  ClipOptions clip = {};
};
// You et al. 2020, "Large batch optimization for deep learning": Adam's m and v; r = m / (1 - beta1^t) / (sqrt(v / (1 -
// beta2^t)) + epsilon) + weight_decay w; w -= lr |w| / |r| r, with the norms of the whole variable. The factor is 1
// where a norm is 0. Slots "<variable>/LAMB" (m) and "<variable>/LAMB_1" (v).
Optimizer LAMB(const LambOptions& options);

struct LarsOptions {
  LearningRate learning_rate = 0.01;
  double weight_decay = 0;
  double momentum = 0.9;
  double trust_coefficient = 0.001;
  // As in LAMB: variables whose name contains one of these strings have no decay and no factor.
  std::vector<std::string> exclude = {};
  ClipOptions clip = {};
};
// You et al. 2017, "Large batch training of convolutional networks": a = momentum a + lr c |w| / (|g| + weight_decay
// |w|) (g + weight_decay w); w -= a, with the norms of the whole variable and the trust coefficient c. The factor of lr
// is 1 where a norm is 0. Slot "<variable>/LARS" (a).
Optimizer LARS(const LarsOptions& options);

}  // namespace optimizers
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_OPTIMIZERS_H_
