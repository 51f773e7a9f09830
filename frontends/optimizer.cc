#include "frontends/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontends/check.h"

namespace tandem {
namespace {

// The trainable variables of `graph` with their names, those of `var_list` if there are any; empty after an error.
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

// "<variable>/Adam", "<variable>/Adam_1".
std::string SlotName(const std::string& variable, const std::string& rule, int slot) {
  return slot == 0 ? absl::StrCat(variable, "/", rule) : absl::StrCat(variable, "/", rule, "_", slot);
}

}  // namespace

Optimizer::Optimizer(std::shared_ptr<const UpdateRule> rule, LearningRate learning_rate, const ClipOptions& clip)
    : rule_(std::move(rule)), learning_rate_(std::move(learning_rate)), clip_(clip) {}

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
  std::vector<Tensor> variables;
  for (const GradientAndVariable& entry : entries) variables.push_back(entry.variable);
  NameScope scope(graph, graph->UniqueName("gradients"));
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
  std::vector<std::string> all_names;
  std::vector<GradientAndVariable> entries;
  for (GradientAndVariable& entry : gradients) {
    if (entry.variable.ok()) graph = entry.variable.graph();
    all_names.push_back(entry.name);
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
  std::vector<Tensor> grads;
  for (const GradientAndVariable& entry : entries) grads.push_back(entry.gradient);
  grads = ClipGradients(grads, clip_, loc);
  Tensor learning_rate = learning_rate_.Build(graph, loc);
  if (!graph->status().ok()) return {};

  // Slots first: they are named after their variable, not after the scope of the updates.
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
  if (!graph->status().ok()) return {};

  NameScope scope(graph, graph->UniqueName(rule_->name()));
  Tensor step_size = rule_->StepSize(learning_rate, loc);
  for (size_t i = 0; i < entries.size(); ++i) {
    UpdateResult result = rule_->Update({.name = entries[i].name,
                                         .variable = entries[i].variable,
                                         .slots = slots[i],
                                         .gradient = grads[i],
                                         .learning_rate = learning_rate,
                                         .step_size = step_size,
                                         .loc = loc});
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
  }
  return graph->status().ok() ? TrainOp{graph} : TrainOp{};
}

}  // namespace tandem
