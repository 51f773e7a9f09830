#include "frontends/moving_average.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/moving_average_name.h"
#include "frontends/check.h"
#include "frontends/name_pattern.h"
#include "frontends/rule_parts.h"
#include "graph/module/assigned_value.h"
#include "graph/ops.h"

namespace tandem::frontends {
namespace {

constexpr char kMovingAverageOp[] = "WithMovingAverage";

}  // namespace

void MovingAverages::Begin() {
  if (!(options_.decay >= 0 && options_.decay < 1)) {
    graph_->FailAt(kMovingAverageOp, absl::StrCat("`decay` must be in [0, 1), got ", options_.decay), loc_);
    return;
  }
  if (options_.also.empty()) return;
  const std::optional<NamePattern> pattern =
      NamePattern::Compile(graph_, kMovingAverageOp, "also", options_.also, loc_);
  if (!pattern.has_value()) return;
  std::vector<std::string> known;
  for (const VariableSpec& spec : std::vector<VariableSpec>(graph_->variables())) {
    if (spec.trainable || !spec.slot_of.empty() || !IsFloat(spec.dtype)) continue;
    known.push_back(spec.name);
    if (pattern->Matches(spec.name)) others_.push_back(Declare(spec.name, graph_->Find(spec.name)));
  }
  if (others_.empty()) pattern->FailWithoutMatch(known, "variable that is not trained");
}

MovingAverages::Average MovingAverages::Declare(const std::string& name, const Tensor& variable) {
  VariableSpec spec;
  spec.name = MovingAverageName(name);
  spec.dtype = variable.dtype();
  spec.shape = variable.shape();
  spec.trainable = false;
  spec.slot_of = name;
  return {variable, graph_->Variable(std::move(spec), loc_)};
}

void MovingAverages::Add(const std::string& name, const Tensor& variable) {
  trained_.push_back(Declare(name, variable));
}

void MovingAverages::AssignAverage(const Average& average, const Tensor& value) {
  if (!options_.num_updates) {
    graph_->Assign(average.average, Blend(average.average, options_.decay, value, loc_), loc_);
    return;
  }
  if (!decay_.ok()) {
    Tensor t = StepNumber(graph_, loc_);
    decay_ = Minimum(Div(tandem::Add(t, 1.0, loc_), tandem::Add(t, 10.0, loc_), loc_), options_.decay, loc_);
  }
  Tensor kept = Mul(Sub(average.average, value, loc_), InTypeOf(value, decay_, loc_), loc_);
  graph_->Assign(average.average, tandem::Add(value, kept, loc_), loc_);
}

void MovingAverages::Assign(size_t i, const Tensor& value) { AssignAverage(trained_[i], value); }

void MovingAverages::End() {
  const std::string taker = absl::StrCat(kMovingAverageOp, " at ", loc_.file, ":", loc_.line);
  for (const Average& average : others_) AssignAverage(average, AssignedValue(graph_, average.variable, taker));
}

}  // namespace tandem::frontends
