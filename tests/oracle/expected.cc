#include "tests/oracle/expected.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tests/oracle/tape.h"

namespace tandem::oracle {
namespace {

constexpr double kGradientError = 3e-5;  // of the largest element of the gradient of a variable
constexpr double kCancelled = 2e-6;      // of the largest element of all gradients: sums whose terms cancel
constexpr double kUpdateError = 3e-6;    // of a change
constexpr double kRounding = 2e-7;       // of a value
constexpr double kTermRounding = 5e-7;   // of what an update adds up: slots, gradients after clipping, decay rates
constexpr double kStatisticError = 1e-5;
constexpr double kLossError = 1e-5;
constexpr double kTiny = 1e-9;

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

OptimizerCase::Group GroupOf(const OptimizerCase& optimizer, const std::string& name) {
  return optimizer.group ? optimizer.group(name) : OptimizerCase::Group();
}

void Treat(const OptimizerCase& optimizer, const ClipOptions& clip, ref::Gradients& gradients) {
  if (optimizer.treat) optimizer.treat(gradients);
  auto apply = [](const ClipOptions& options, ref::Gradients& part) {
    if (options.global_norm > 0) ref::ClipByGlobalNorm(part, options.global_norm);
    if (options.value > 0) ref::ClipByValue(part, options.value);
  };
  std::map<int, std::pair<ClipOptions, ref::Gradients>> parts;
  for (auto& [name, gradient] : gradients) {
    const OptimizerCase::Group group = GroupOf(optimizer, name);
    if (group.frozen) continue;  // nobody computes it
    auto& [options, part] = parts[group.part];
    options = group.clip.value_or(clip);
    part[name] = std::move(gradient);
  }
  for (auto& [number, part] : parts) {
    apply(part.first, part.second);
    for (auto& [name, gradient] : part.second) gradients[name] = std::move(gradient);
  }
}

// The moving average of `name`, which becomes what `expected` has, and how far it may be off.
void Average(double decay, const StepData& data, const std::string& name, Expected& expected) {
  const std::string slot = name + "/ExponentialMovingAverage";
  auto before = data.variables.find(slot);  // a missing one is the caller's finding
  const Bounded value = expected.assigned.at(name);
  Bounded& average = expected.assigned[slot];
  for (size_t i = 0; i < value.values.size(); ++i) {
    const double old = before == data.variables.end() ? 0 : before->second.values[i], w = value.values[i];
    average.values.push_back(old - (1 - decay) * (old - w));
    average.bounds.push_back((1 - decay) * value.bounds[i] + kTermRounding * (std::abs(old) + std::abs(w)));
  }
}

// The variable and its slots after the update, and how far they may be off.
void Update(const OptimizerCase& optimizer, const StepData& data, const std::string& name,
            const std::vector<double>& gradient, const std::vector<double>& low, const std::vector<double>& high,
            Expected& expected) {
  std::vector<std::string> names = {name};
  for (const std::string& slot : optimizer.slots) names.push_back(name + slot);
  std::vector<ref::Element> elements(gradient.size());
  for (size_t i = 0; i < gradient.size(); ++i) {
    elements[i].value = data.variables.at(name).values[i];
    for (size_t s = 1; s < names.size(); ++s) {
      auto slot = data.variables.find(names[s]);  // a missing one is the caller's finding
      elements[i].slots.push_back(slot == data.variables.end() ? 0 : slot->second.values[i]);
    }
  }
  const OptimizerCase::Group group = GroupOf(optimizer, name);
  auto scale = [&](const std::vector<double>& g) {
    return optimizer.scale ? optimizer.scale(data.step, g, elements) : 1.0;
  };
  // Of the exact gradient, and of what rounding may make of it.
  const double exact = scale(gradient),
               scale_error = std::max({std::abs(scale(low) / exact - 1), std::abs(scale(high) / exact - 1), 0.0});
  for (size_t i = 0; i < gradient.size(); ++i) {
    const ref::Element& before = elements[i];
    // Slots, gradient and rate are rounded by so much.
    auto after = [&](double g, double slot_error, double gradient_error, double rate_error = 0) {
      ref::Element e = before;
      for (double& slot : e.slots) slot *= 1 + slot_error;
      const double rate = optimizer.rate(data.step) * group.rate_factor * exact * (1 + rate_error);
      optimizer.update(rate, data.step, g * (1 + gradient_error), &e);
      e.value -= rate * group.decay * before.value;
      std::vector<double> numbers = {e.value};
      numbers.insert(numbers.end(), e.slots.begin(), e.slots.end());
      return numbers;
    };
    const std::vector<double> want = after(gradient[i], 0, 0);
    std::vector<double> spread(names.size());
    for (double g : {low[i], high[i]}) {
      for (double slot_error : {-kTermRounding, kTermRounding}) {
        for (double gradient_error : {-kTermRounding, kTermRounding}) {
          const std::vector<double> other =
              after(g, slot_error, gradient_error, gradient_error < 0 ? -scale_error : scale_error);
          for (size_t n = 0; n < names.size(); ++n) spread[n] = std::max(spread[n], std::abs(other[n] - want[n]));
        }
      }
    }
    for (size_t n = 0; n < names.size(); ++n) {
      const double old = n == 0 ? before.value : before.slots[n - 1];
      Bounded& bounded = expected.assigned[names[n]];
      bounded.values.push_back(want[n]);
      bounded.bounds.push_back(1.5 * spread[n] + kUpdateError * std::abs(want[n] - old) +
                               kRounding * std::abs(want[n]) + kTiny * kTiny);
    }
  }
}

}  // namespace

Expected ExpectedStep(const Model& model, const OptimizerCase& optimizer, const ClipOptions& clip,
                      const StepData& data) {
  ref::Tape tape;
  ref::Forward forward(data.variables, data.inputs, data.rows_per_replica, data.uniforms);
  const ref::Real loss = model.reference(forward);
  Expected expected;
  expected.loss = tape.value(loss);
  expected.loss_bound = kLossError * model.rounding * std::max(std::abs(expected.loss), 0.1);
  expected.margin = tape.margin();
  for (const auto& [name, assigned] : forward.assigned()) {
    expected.assigned[name] = {
        assigned.values, std::vector<double>(assigned.values.size(), kStatisticError * model.rounding *
                                                                         std::max(Largest(assigned.values), 0.1))};
  }

  const std::vector<double> derivatives = tape.Gradient(loss);
  ref::Gradients gradients;
  double largest = 0;
  for (const std::string& name : data.trained) {
    for (ref::Real w : forward.variables().at(name).values) gradients[name].push_back(derivatives[w.id]);
    largest = std::max(largest, Largest(gradients[name]));
  }
  ref::Gradients low = gradients, high = gradients;
  for (const auto& [name, gradient] : gradients) {
    const double error = model.rounding * (kGradientError * Largest(gradient) + kCancelled * largest) + kTiny;
    for (double& g : low[name]) g -= error;
    for (double& g : high[name]) g += error;
  }
  for (ref::Gradients* g : {&gradients, &low, &high}) Treat(optimizer, clip, *g);
  for (const std::string& name : data.trained) {
    Update(optimizer, data, name, gradients[name], low[name], high[name], expected);
  }
  if (!optimizer.average_decay) return expected;
  const double decay = optimizer.average_decay(data.step);
  for (const std::string& name : data.trained) Average(decay, data, name, expected);
  for (const auto& entry : forward.assigned()) {
    if (optimizer.average_statistics) Average(decay, data, entry.first, expected);
  }
  return expected;
}

}  // namespace tandem::oracle
