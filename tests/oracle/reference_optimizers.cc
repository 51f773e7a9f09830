#include "tests/oracle/reference_optimizers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::ref {

UpdateFn Descend() {
  return [](double rate, int64_t, double g, Element* e) { e->value -= rate * g; };
}

UpdateFn DescendWithMomentum(double momentum, bool nesterov) {
  return [=](double rate, int64_t, double g, Element* e) {
    double& accumulated = e->slots[0];
    accumulated = momentum * accumulated + g;
    e->value -= nesterov ? rate * (g + momentum * accumulated) : rate * accumulated;
  };
}

UpdateFn AdamUpdate(double beta1, double beta2, double epsilon) {
  return [=](double rate, int64_t step, double g, Element* e) {
    const double t = static_cast<double>(step + 1);
    e->slots[0] = beta1 * e->slots[0] + (1 - beta1) * g;
    e->slots[1] = beta2 * e->slots[1] + (1 - beta2) * g * g;
    const double corrected = rate * std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
    e->value -= corrected * e->slots[0] / (std::sqrt(e->slots[1]) + epsilon);
  };
}

UpdateFn RmsPropUpdate(double rho, double momentum, double epsilon) {
  return [=](double rate, int64_t, double g, Element* e) {
    e->slots[0] = rho * e->slots[0] + (1 - rho) * g * g;
    double change = rate * g / (std::sqrt(e->slots[0]) + epsilon);
    if (momentum > 0) change = e->slots[1] = momentum * e->slots[1] + change;
    e->value -= change;
  };
}

double GlobalNorm(const Gradients& gradients) {
  double squares = 0;
  for (const auto& [name, gradient] : gradients) {
    for (double g : gradient) squares += g * g;
  }
  return std::sqrt(squares);
}

void ClipByGlobalNorm(Gradients& gradients, double limit) {
  const double norm = GlobalNorm(gradients);
  if (norm <= limit) return;
  for (auto& [name, gradient] : gradients) {
    for (double& g : gradient) g *= limit / norm;
  }
}

void ClipByValue(Gradients& gradients, double limit) {
  for (auto& [name, gradient] : gradients) {
    for (double& g : gradient) g = std::clamp(g, -limit, limit);
  }
}

double ExponentialDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase) {
  const double periods = step / decay_steps;
  return initial * std::pow(decay_rate, staircase ? std::floor(periods) : periods);
}

double PiecewiseConstantAt(double step, const std::vector<double>& boundaries, const std::vector<double>& values) {
  size_t i = 0;
  while (i < boundaries.size() && step > boundaries[i]) ++i;
  return values[i];
}

double PolynomialDecayAt(double step, double initial, double decay_steps, double end, double power, bool cycle) {
  if (cycle) {
    decay_steps *= step == 0 ? 1 : std::ceil(step / decay_steps);
  } else {
    step = std::min(step, decay_steps);
  }
  return (initial - end) * std::pow(1 - step / decay_steps, power) + end;
}

double CosineDecayAt(double step, double initial, double decay_steps, double alpha) {
  const double share = std::min(step, decay_steps) / decay_steps;
  return initial * ((1 - alpha) * 0.5 * (1 + std::cos(std::numbers::pi * share)) + alpha);
}

double LinearWarmupAt(double step, double warmup_steps, double start_factor,
                      const std::function<double(double)>& then) {
  if (step >= warmup_steps) return then(step - warmup_steps);
  return then(0) * (start_factor + (1 - start_factor) * step / warmup_steps);
}

}  // namespace tandem::ref
