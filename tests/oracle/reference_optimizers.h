// The optimizers' and schedules' formulas written once more in double precision: tf.compat.v1.train for gradient
// descent, Momentum and Adam, Keras for RMSprop, the schedules and what Keras has, the papers for LAMB and LARS.
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
UpdateFn RmsPropUpdate(double rho, double momentum, double epsilon, bool epsilon_in_root = false);
UpdateFn AdamWUpdate(double beta1, double beta2, double epsilon, double weight_decay);
UpdateFn AdagradUpdate(double epsilon);
UpdateFn AdadeltaUpdate(double rho, double epsilon);
UpdateFn AdamaxUpdate(double beta1, double beta2, double epsilon);
UpdateFn NadamUpdate(double beta1, double beta2, double epsilon);
struct FtrlNumbers {
  double power = 0.5;  // of the sum of squares
  double l1 = 0, l2 = 0, l2_shrinkage = 0, beta = 0;
};
UpdateFn FtrlUpdate(FtrlNumbers numbers);
UpdateFn LionUpdate(double beta1, double beta2, double weight_decay);
// These two for a rate that ScaleFn has scaled.
UpdateFn LambUpdate(double beta1, double beta2, double epsilon, double weight_decay);
UpdateFn LarsUpdate(double momentum, double weight_decay);

// The factor of the rate of a variable that has these elements and this gradient, before the update.
using ScaleFn =
    std::function<double(int64_t step, const std::vector<double>& gradient, const std::vector<Element>& elements)>;
ScaleFn LambScale(double beta1, double beta2, double epsilon, double weight_decay);
ScaleFn LarsScale(double trust_coefficient, double weight_decay);

// By variable.
using Gradients = std::map<std::string, std::vector<double>>;

double GlobalNorm(const Gradients& gradients);
// Scales all gradients so that their norm is at most `limit`.
void ClipByGlobalNorm(Gradients& gradients, double limit);
void ClipByValue(Gradients& gradients, double limit);
// Each gradient by its own norm.
void ClipByNorm(Gradients& gradients, double limit);

// Learning rates after `step` finished steps.
double ExponentialDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase);
double PiecewiseConstantAt(double step, const std::vector<double>& boundaries, const std::vector<double>& values);
double PolynomialDecayAt(double step, double initial, double decay_steps, double end, double power, bool cycle);
double CosineDecayAt(double step, double initial, double decay_steps, double alpha);
double InverseTimeDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase);
double NaturalExpDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase);
// Period by period.
double CosineDecayRestartsAt(double step, double initial, double first_decay_steps, double t_mul, double m_mul,
                             double alpha);
double OneCycleAt(double step, double max, double total_steps, double rising_share, double div, double final_div);
double LinearWarmupAt(double step, double warmup_steps, double start_factor, const std::function<double(double)>& then);

}  // namespace tandem::ref

#endif  // TANDEM_TESTS_ORACLE_REFERENCE_OPTIMIZERS_H_
