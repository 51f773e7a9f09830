#include "frontends/keras/optimizer.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/moving_average_name.h"
#include "frontends/keras/optimizers.h"
#include "frontends/slot_name.h"

namespace tandem::keras {
namespace {

// Returns the number that the config has for this key, or 0 if there is none.
double NumberIn(const PartConfig& config, absl::string_view key) {
  for (const auto& [name, value] : config.values) {
    if (name == key && std::holds_alternative<double>(value)) return std::get<double>(value);
  }
  return 0;
}

bool FlagIn(const PartConfig& config, absl::string_view key) {
  for (const auto& [name, value] : config.values) {
    if (name == key && std::holds_alternative<bool>(value)) return std::get<bool>(value);
  }
  return false;
}

}  // namespace

Optimizer::Optimizer(const char* name) : Optimizer(name == nullptr ? std::string() : std::string(name)) {}

Optimizer::Optimizer(const std::string& name) : optimizer_(nullptr, 0.0) {
  absl::StatusOr<Optimizer> known = OptimizerByName(name);
  if (known.ok()) {
    *this = *std::move(known);
  } else {
    status_ = known.status();
  }
}

TrainOp Optimizer::Minimize(const Tensor& loss, const MinimizeOptions& options, SourceLocation loc) const {
  if (status_.ok()) return optimizer_.Minimize(loss, options, loc);
  if (loss.graph() != nullptr) loss.graph()->FailAt("Optimizer", status_.message(), loc);
  return {};
}

std::vector<OptimizerSlot> Optimizer::Slots(const std::vector<std::string>& variables, SlotLayout layout) const {
  std::vector<OptimizerSlot> slots;
  if (!config_.named() || optimizer_.rule() == nullptr) return slots;
  auto keras_name = [&](absl::string_view kind, absl::string_view variable) {
    return absl::StrCat(config_.class_name, "/", kind, "/", variable, ":0");
  };
  if (FlagIn(config_, "use_ema")) {
    for (const std::string& variable : variables) {
      slots.push_back({keras_name("average", variable), variable, MovingAverageName(variable)});
    }
  }
  std::vector<Group> groups;
  for (const Group& group : groups_) {
    if (layout == SlotLayout::kKeras2) {
      groups.push_back(group);
      continue;
    }
    for (const auto& kind : group) {
      if (kind.second >= 0) groups.push_back({kind});
    }
  }
  for (const Group& group : groups) {
    for (const std::string& variable : variables) {
      for (const auto& [kind, slot] : group) {
        slots.push_back({keras_name(kind, variable), variable,
                         slot < 0 ? "" : SlotName(variable, optimizer_.rule()->name(), slot)});
      }
    }
  }
  return slots;
}

std::vector<std::pair<std::string, double>> Optimizer::SlotsOfIteration(const std::vector<std::string>& variables,
                                                                        int64_t iteration) const {
  std::vector<std::pair<std::string, double>> slots;
  if (config_.class_name != "Nadam") return slots;
  // Nadam's slot 2 is the product of beta_1 (1 - 0.96^t / 2) for t from 1 to the step. It becomes 0 long before
  // kLongest steps.
  constexpr int64_t kLongest = 1 << 20;
  const double beta = NumberIn(config_, "beta_1");
  double product = 1;
  for (int64_t t = 1; t <= std::min(iteration, kLongest) && product != 0; ++t) {
    product *= beta * (1 - 0.5 * std::pow(0.96, static_cast<double>(t)));
  }
  for (const std::string& variable : variables) {
    slots.emplace_back(SlotName(variable, optimizer_.rule()->name(), 2), product);
  }
  return slots;
}

}  // namespace tandem::keras
