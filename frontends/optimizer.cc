#include "frontends/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "frontends/check.h"
#include "frontends/moving_average.h"
#include "frontends/parameter_groups.h"
#include "frontends/rule_parts.h"
#include "frontends/slot_name.h"
#include "graph/module/graph_nodes.h"

namespace tandem {
namespace {

// Returns the trainable variables of `graph` with their names. If `var_list` is not empty, returns only its variables.
// Empty after an error.
std::vector<GradientAndVariable> SelectVariables(GraphBuilder* graph, const std::vector<Tensor>& var_list,
                                                 SourceLocation loc) {
  std::vector<GradientAndVariable> trainable;
  const std::vector<Tensor> tensors = graph->trainable_variables();
  for (const VariableSpec& spec : graph->variables()) {
    if (spec.trainable) trainable.push_back({.variable = tensors[trainable.size()], .name = spec.name});
  }
  if (trainable.empty()) {
    graph->FailAt("Minimize", "no variables to optimize: the graph has no trainable variable", loc);
    return {};
  }
  if (var_list.empty()) return trainable;
  std::vector<GradientAndVariable> selected;
  for (size_t i = 0; i < var_list.size(); ++i) {
    bool found = false;
    for (const GradientAndVariable& entry : trainable) {
      if (!(entry.variable == var_list[i])) continue;
      selected.push_back(entry);
      found = true;
    }
    if (!found) {
      graph->FailAt("Minimize", absl::StrCat("`var_list[", i, "]` is not a trainable variable of this graph"), loc);
      return {};
    }
  }
  return selected;
}

void FailAllFrozen(GraphBuilder* graph, SourceLocation loc) {
  graph->FailAt("Minimize", "all variables are in groups that are frozen; leave one to train", loc);
}

// Returns the learning rate of a group, which is its own or the optimizer's, multiplied by the group's factor.
Tensor RateOf(const GroupOptions& group, const Tensor& base, SourceLocation loc) {
  Tensor rate = group.learning_rate.has_value() ? group.learning_rate->Build(base.graph(), loc) : base;
  return group.learning_rate_factor == 1 || !rate.ok() ? rate : Mul(rate, group.learning_rate_factor, loc);
}

// Applies the weight decay of a group: subtracts lr weight_decay w from the updated value, where w is the old one.
Tensor Decayed(const Tensor& updated, const VariableUpdate& u) {
  Tensor decay = frontends::InTypeOf(u.variable, Mul(u.learning_rate, *u.weight_decay, u.loc), u.loc);
  return Sub(updated, Mul(u.variable, decay, u.loc), u.loc);
}

// Records an error and returns true if the graph assigns one of the variables already, by an earlier Minimize or by a
// call of Assign. The first Minimize in a graph is not checked.
bool FailUpdatedBefore(GraphBuilder* graph, const std::vector<GradientAndVariable>& entries, SourceLocation loc) {
  constexpr char kCalls[] = "minimize_calls";
  if (graph->UniqueName(kCalls) == kCalls) return false;  // the first Minimize in the graph
  std::map<std::string, std::string> places;
  for (const GraphNode& node : GraphNodesOf(*graph)) {
    if (node.op == "assign") places[node.variable] = node.source;
  }
  for (const GradientAndVariable& entry : entries) {
    auto before = places.find(entry.name);
    if (before == places.end()) continue;
    graph->FailAt("Minimize",
                  absl::StrCat("\"", entry.name, "\" is updated already, by the Minimize or Assign at ", before->second,
                               "; where two optimizers train parts of a model, name the variables of each: "
                               "Minimize(loss, {.var_list = {...}})"),
                  loc);
    return true;
  }
  return false;
}

}  // namespace

Optimizer::Optimizer(std::shared_ptr<const UpdateRule> rule, LearningRate learning_rate, const ClipOptions& clip)
    : rule_(std::move(rule)), learning_rate_(std::move(learning_rate)), clip_(clip) {}

Optimizer Optimizer::WithGroup(const GroupOptions& options, SourceLocation loc) const {
  Optimizer result = *this;
  result.groups_.emplace_back(options, loc);
  return result;
}

Optimizer Optimizer::WithMovingAverage(const MovingAverageOptions& options, SourceLocation loc) const {
  Optimizer result = *this;
  result.average_ = {options, loc};
  return result;
}

Optimizer Optimizer::WithGradientFactor(double factor, SourceLocation loc) const {
  Optimizer result = *this;
  result.gradient_factor_ = {gradient_factor_.first * factor, loc};
  return result;
}

TrainOp Optimizer::Minimize(const Tensor& loss, const MinimizeOptions& options, SourceLocation loc) const {
  std::vector<GradientAndVariable> gradients = ComputeGradients(loss, options, loc);
  return gradients.empty() ? TrainOp{} : ApplyGradients(std::move(gradients), loc);
}

std::vector<GradientAndVariable> Optimizer::ComputeGradients(const Tensor& loss, const MinimizeOptions& options,
                                                             SourceLocation loc) const {
  Tensor failed;
  GraphBuilder* graph = frontends::CommonGraph("Minimize", {{"loss", loss}}, loc, &failed);
  if (graph == nullptr || !graph->status().ok()) return {};
  if (loss.rank() != 0 || !frontends::IsFloat(loss.dtype())) {
    graph->FailAt("Minimize",
                  absl::StrCat("the loss must be a floating-point scalar, got ", frontends::TypeString(loss),
                               loss.rank() > 0 ? "; reduce it with ReduceMean(loss)" : ""),
                  loc);
    return {};
  }
  std::vector<GradientAndVariable> entries = SelectVariables(graph, options.var_list, loc);
  if (entries.empty()) return {};
  const std::optional<frontends::ParameterGroups> groups = frontends::ParameterGroups::Make(graph, groups_);
  if (!groups.has_value()) return {};
  std::erase_if(entries, [&](const GradientAndVariable& entry) { return groups->IsFrozen(entry.name); });
  if (entries.empty()) {
    FailAllFrozen(graph, loc);
    return {};
  }
  std::vector<Tensor> variables;
  for (const GradientAndVariable& entry : entries) variables.push_back(entry.variable);
  NameScope scope(graph, graph->UniqueName("gradients"));
  graph->CheckFinite(loss, loc);
  std::vector<Tensor> gradients = graph->Gradients(loss, variables, loc);
  if (!graph->status().ok()) return {};
  if (std::none_of(gradients.begin(), gradients.end(), [](const Tensor& g) { return g.ok(); })) {
    std::vector<std::string> names;
    for (const GradientAndVariable& entry : entries) names.push_back(entry.name);
    graph->FailAt("Minimize",
                  absl::StrCat("no gradients provided for any variable (", absl::StrJoin(names, ", "),
                               "): ", graph->WhyNoGradient(loss, variables),
                               "; compute the loss from the model's output with ops that have gradients"),
                  loc);
    return {};
  }
  for (size_t i = 0; i < entries.size(); ++i) entries[i].gradient = gradients[i];
  return entries;
}

TrainOp Optimizer::ApplyGradients(std::vector<GradientAndVariable> gradients, SourceLocation loc) const {
  GraphBuilder* graph = nullptr;
  std::vector<std::string> all_names, without;
  std::vector<GradientAndVariable> entries;
  for (GradientAndVariable& entry : gradients) {
    if (entry.variable.ok()) graph = entry.variable.graph();
    all_names.push_back(entry.name);
    if (!entry.gradient.ok() && entry.variable.ok()) without.push_back(entry.name);
    if (entry.gradient.ok() && entry.variable.ok()) entries.push_back(std::move(entry));
  }
  if (graph == nullptr) return {};
  if (!rule_) {
    graph->FailAt("Optimizer", "the update rule is null", loc);
    return {};
  }
  for (const GradientAndVariable& entry : entries) {
    if (entry.gradient.graph() == graph && entry.variable.graph() == graph) continue;
    graph->FailAt("ApplyGradients", absl::StrCat("the gradient of \"", entry.name, "\" belongs to another graph"), loc);
    return {};
  }
  if (entries.empty()) {
    graph->FailAt("Minimize",
                  absl::StrCat("no gradients provided for any variable (", absl::StrJoin(all_names, ", "), ")"), loc);
    return {};
  }
  rule_->Validate(graph, loc);
  const std::optional<frontends::ParameterGroups> groups = frontends::ParameterGroups::Make(graph, groups_);
  if (!groups.has_value()) return {};
  std::erase_if(entries, [&](const GradientAndVariable& entry) { return groups->IsFrozen(entry.name); });
  std::erase_if(without, [&](const std::string& name) { return groups->IsFrozen(name); });
  if (entries.empty()) {
    FailAllFrozen(graph, loc);
    return {};
  }
  if (FailUpdatedBefore(graph, entries, loc)) return {};
  if (!without.empty()) {
    TD_LOG(WARNING) << loc.file << ":" << loc.line << ": the loss does not depend on " << absl::StrJoin(without, ", ")
                    << ": without a gradient " << (without.size() == 1 ? "it is" : "they are")
                    << " not trained. Leave out what the model does not use, or name in MinimizeOptions.var_list what "
                       "is to be trained.";
  }
  std::vector<Tensor> grads;
  std::vector<int> group;  // for each entry the index of its parameter group, or -1
  for (const GradientAndVariable& entry : entries) {
    graph->CheckFinite(entry.gradient, loc);
    grads.push_back(entry.gradient);
    group.push_back(groups->IndexOf(entry.name));
  }
  if (const auto& [factor, factor_loc] = gradient_factor_; factor != 1) {
    if (!(factor > 0) || !std::isfinite(factor)) {
      graph->FailAt("WithGradientFactor", absl::StrCat("the factor must be a positive number, got ", factor),
                    factor_loc);
      return {};
    }
    for (Tensor& gradient : grads) gradient = Mul(gradient, factor, factor_loc);
  }
  grads = frontends::ClipByGroup(grads, group, groups_, clip_, loc);
  std::vector<Tensor> rates = {learning_rate_.Build(graph, loc)};  // the optimizer's rate; those of the groups follow
  if (!graph->status().ok()) return {};
  for (const auto& [options, group_loc] : groups_) rates.push_back(RateOf(options, rates[0], group_loc));
  if (!graph->status().ok()) return {};

  // The slots are made before the name scope of the updates begins, so that they are named only after their variable.
  std::vector<std::vector<Tensor>> slots(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    for (int s = 0; s < rule_->num_slots(); ++s) {
      VariableSpec spec;
      spec.name = SlotName(entries[i].name, rule_->name(), s);
      spec.dtype = entries[i].variable.dtype();
      spec.shape = entries[i].variable.shape();
      spec.trainable = false;
      const double initial = rule_->initial_value(s);
      if (!std::isfinite(initial)) {
        graph->FailAt(rule_->name(), absl::StrCat("slot ", s, " starts from ", initial, "; it must be a finite number"),
                      loc);
        return {};
      }
      if (initial != 0) spec.initializer = {Initializer::Kind::kConstant, initial, 0};
      spec.slot_of = entries[i].name;
      slots[i].push_back(graph->Variable(std::move(spec), loc));
    }
  }
  std::optional<frontends::MovingAverages> averages;
  if (average_.has_value()) {
    averages.emplace(graph, average_->first, average_->second);
    averages->Begin();
    for (const GradientAndVariable& entry : entries) averages->Add(entry.name, entry.variable);
  }
  if (!graph->status().ok()) return {};

  NameScope scope(graph, graph->UniqueName(rule_->name()));
  std::vector<Tensor> step_sizes(rates.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const size_t r = group[i] + 1;
    // Groups with the same learning rate share one step size.
    const size_t same = std::find(rates.begin(), rates.end(), rates[r]) - rates.begin();
    if (!step_sizes[same].ok()) step_sizes[same] = rule_->StepSize(rates[r], loc);
    const VariableUpdate update = {.name = entries[i].name,
                                   .variable = entries[i].variable,
                                   .slots = slots[i],
                                   .gradient = grads[i],
                                   .learning_rate = rates[r],
                                   .step_size = step_sizes[same],
                                   .loc = loc,
                                   .weight_decay = group[i] < 0 ? std::nullopt : groups_[group[i]].first.weight_decay};
    UpdateResult result = rule_->Update(update);
    if (update.weight_decay.value_or(0) != 0 && !rule_->has_weight_decay() && result.var.ok()) {
      result.var = Decayed(result.var, update);
    }
    if (!graph->status().ok()) return {};
    if (result.slots.size() != slots[i].size()) {
      graph->FailAt(rule_->name(),
                    absl::StrCat("the update rule returned ", result.slots.size(), " slots of ", slots[i].size(),
                                 " for ", entries[i].name),
                    loc);
      return {};
    }
    graph->Assign(entries[i].variable, result.var, loc);
    for (size_t s = 0; s < slots[i].size(); ++s) graph->Assign(slots[i][s], result.slots[s], loc);
    if (averages.has_value()) averages->Assign(i, result.var);
  }
  if (averages.has_value()) averages->End();
  return graph->status().ok() ? TrainOp{entries[0].variable} : TrainOp{};
}

}  // namespace tandem
