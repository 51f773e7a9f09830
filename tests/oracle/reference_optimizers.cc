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

UpdateFn RmsPropUpdate(double rho, double momentum, double epsilon, bool epsilon_in_root) {
  return [=](double rate, int64_t, double g, Element* e) {
    e->slots[0] = rho * e->slots[0] + (1 - rho) * g * g;
    const double root = epsilon_in_root ? std::sqrt(e->slots[0] + epsilon) : std::sqrt(e->slots[0]) + epsilon;
    double change = rate * g / root;
    if (momentum > 0) change = e->slots[1] = momentum * e->slots[1] + change;
    e->value -= change;
  };
}

UpdateFn AdamWUpdate(double beta1, double beta2, double epsilon, double weight_decay) {
  return [=, adam = AdamUpdate(beta1, beta2, epsilon)](double rate, int64_t step, double g, Element* e) {
    e->value -= rate * weight_decay * e->value;
    adam(rate, step, g, e);
  };
}

UpdateFn AdagradUpdate(double epsilon) {
  return [=](double rate, int64_t, double g, Element* e) {
    e->slots[0] += g * g;
    e->value -= rate * g / std::sqrt(e->slots[0] + epsilon);
  };
}

UpdateFn AdadeltaUpdate(double rho, double epsilon) {
  return [=](double rate, int64_t, double g, Element* e) {
    e->slots[0] = rho * e->slots[0] + (1 - rho) * g * g;
    const double delta = std::sqrt((e->slots[1] + epsilon) / (e->slots[0] + epsilon)) * g;
    e->slots[1] = rho * e->slots[1] + (1 - rho) * delta * delta;
    e->value -= rate * delta;
  };
}

UpdateFn AdamaxUpdate(double beta1, double beta2, double epsilon) {
  return [=](double rate, int64_t step, double g, Element* e) {
    e->slots[0] = beta1 * e->slots[0] + (1 - beta1) * g;
    e->slots[1] = std::max(beta2 * e->slots[1], std::abs(g));
    e->value -= rate / (1 - std::pow(beta1, static_cast<double>(step + 1))) * e->slots[0] / (e->slots[1] + epsilon);
  };
}

UpdateFn NadamUpdate(double beta1, double beta2, double epsilon) {
  return [=](double rate, int64_t step, double g, Element* e) {
    const double t = static_cast<double>(step + 1);
    const double u = beta1 * (1 - 0.5 * std::pow(0.96, t)), u_next = beta1 * (1 - 0.5 * std::pow(0.96, t + 1));
    e->slots[0] = beta1 * e->slots[0] + (1 - beta1) * g;
    e->slots[1] = beta2 * e->slots[1] + (1 - beta2) * g * g;
    e->slots[2] *= u;
    const double m = u_next * e->slots[0] / (1 - e->slots[2] * u_next) + (1 - u) * g / (1 - e->slots[2]);
    e->value -= rate * m / (std::sqrt(e->slots[1] / (1 - std::pow(beta2, t))) + epsilon);
  };
}

UpdateFn FtrlUpdate(FtrlNumbers n) {
  return [=](double rate, int64_t, double g, Element* e) {
    const double before = std::pow(e->slots[0], n.power);
    e->slots[0] += g * g;
    const double after = std::pow(e->slots[0], n.power);
    e->slots[1] += g + 2 * n.l2_shrinkage * e->value - (after - before) / rate * e->value;
    const double quadratic = after / rate + 2 * (n.l2 + n.beta / (2 * rate));
    e->value = (std::clamp(e->slots[1], -n.l1, n.l1) - e->slots[1]) / quadratic;
  };
}

UpdateFn LionUpdate(double beta1, double beta2, double weight_decay) {
  return [=](double rate, int64_t, double g, Element* e) {
    const double direction = beta1 * e->slots[0] + (1 - beta1) * g;
    e->value -= rate * ((direction > 0) - (direction < 0) + weight_decay * e->value);
    e->slots[0] = beta2 * e->slots[0] + (1 - beta2) * g;
  };
}

namespace {

// Adam's moments after the gradient, without their bias, as the direction of LAMB.
double LambDirection(const Element& e, double g, double t, double beta1, double beta2, double epsilon,
                     double weight_decay) {
  const double m = (beta1 * e.slots[0] + (1 - beta1) * g) / (1 - std::pow(beta1, t));
  const double v = (beta2 * e.slots[1] + (1 - beta2) * g * g) / (1 - std::pow(beta2, t));
  return m / (std::sqrt(v) + epsilon) + weight_decay * e.value;
}

}  // namespace

UpdateFn LambUpdate(double beta1, double beta2, double epsilon, double weight_decay) {
  return [=](double rate, int64_t step, double g, Element* e) {
    const double t = static_cast<double>(step + 1);
    e->value -= rate * LambDirection(*e, g, t, beta1, beta2, epsilon, weight_decay);
    e->slots[0] = beta1 * e->slots[0] + (1 - beta1) * g;
    e->slots[1] = beta2 * e->slots[1] + (1 - beta2) * g * g;
  };
}

ScaleFn LambScale(double beta1, double beta2, double epsilon, double weight_decay) {
  return [=](int64_t step, const std::vector<double>& gradient, const std::vector<Element>& elements) {
    double w = 0, r = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      w += elements[i].value * elements[i].value;
      const double d =
          LambDirection(elements[i], gradient[i], static_cast<double>(step + 1), beta1, beta2, epsilon, weight_decay);
      r += d * d;
    }
    return w > 0 && r > 0 ? std::sqrt(w / r) : 1;
  };
}

UpdateFn LarsUpdate(double momentum, double weight_decay) {
  return [=](double rate, int64_t, double g, Element* e) {
    e->slots[0] = momentum * e->slots[0] + rate * (g + weight_decay * e->value);
    e->value -= e->slots[0];
  };
}

ScaleFn LarsScale(double trust_coefficient, double weight_decay) {
  return [=](int64_t, const std::vector<double>& gradient, const std::vector<Element>& elements) {
    double w = 0, g = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      w += elements[i].value * elements[i].value;
      g += gradient[i] * gradient[i];
    }
    if (w == 0 || g == 0) return 1.0;
    return trust_coefficient * std::sqrt(w) / (std::sqrt(g) + weight_decay * std::sqrt(w));
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

void ClipByNorm(Gradients& gradients, double limit) {
  for (auto& [name, gradient] : gradients) {
    Gradients one = {{name, gradient}};
    ClipByGlobalNorm(one, limit);
    gradient = one[name];
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

double InverseTimeDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase) {
  const double periods = step / decay_steps;
  return initial / (1 + decay_rate * (staircase ? std::floor(periods) : periods));
}

double NaturalExpDecayAt(double step, double initial, double decay_steps, double decay_rate, bool staircase) {
  const double periods = step / decay_steps;
  return initial * std::exp(-decay_rate * (staircase ? std::floor(periods) : periods));
}

double CosineDecayRestartsAt(double step, double initial, double first_decay_steps, double t_mul, double m_mul,
                             double alpha) {
  double length = first_decay_steps, start = 1;
  for (; step >= length; length *= t_mul, start *= m_mul) step -= length;
  return initial * ((1 - alpha) * start * 0.5 * (1 + std::cos(std::numbers::pi * step / length)) + alpha);
}

double OneCycleAt(double step, double max, double total_steps, double rising_share, double div, double final_div) {
  const double rise = rising_share * total_steps, first = max / div, last = first / final_div;
  const bool rises = step < rise;
  const double part = rises ? step / rise : std::min((step - rise) / (total_steps - rise), 1.0);
  const double from = rises ? first : max, to = rises ? max : last;
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

double LinearWarmupAt(double step, double warmup_steps, double start_factor,
                      const std::function<double(double)>& then) {
  if (step >= warmup_steps) return then(step - warmup_steps);
  return then(0) * (start_factor + (1 - start_factor) * step / warmup_steps);
}

}  // namespace tandem::ref
