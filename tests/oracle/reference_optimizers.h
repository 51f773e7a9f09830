// The optimizers' and schedules' formulas written once more in double precision: tf.compat.v1.train for gradient
// descent, Momentum and Adam, Keras for RMSprop and the schedules.
#ifndef TANDEM_TESTS_ORACLE_REFERENCE_OPTIMIZERS_H_
#define TANDEM_TESTS_ORACLE_REFERENCE_OPTIMIZERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tandem::ref {

// One element of a variable and its slots.
struct Element {
  double value = 0;
  std::vector<double> slots;
};

// How an element changes by its gradient. `step` counts finished steps.
using UpdateFn = std::function<void(double rate, int64_t step, double gradient, Element* element)>;

UpdateFn Descend();
UpdateFn DescendWithMomentum(double momentum, bool nesterov);
UpdateFn AdamUpdate(double beta1, double beta2, double epsilon);
UpdateFn RmsPropUpdate(double rho, double momentum, double epsilon);

// By variable.
using Gradients = std::map<std::string, std::vector<double>>;

double GlobalNorm(const Gradients& gradients);
// Scales all gradients so that their norm is at most `limit`.
void ClipByGlobalNorm(Gradients& gradients, double limit);
void ClipByValue(Gradients& gradients, double limit);

// Learning rates after `step` finished steps.
double ExponentialDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase);
double PiecewiseConstantAt(double step, const std::vector<double>& boundaries, const std::vector<double>& values);
double PolynomialDecayAt(double step, double initial, double decay_steps, double end, double power, bool cycle);
double CosineDecayAt(double step, double initial, double decay_steps, double alpha);
double LinearWarmupAt(double step, double warmup_steps, double start_factor, const std::function<double(double)>& then);

}  // namespace tandem::ref

#endif  // TANDEM_TESTS_ORACLE_REFERENCE_OPTIMIZERS_H_
