#include "frontends/schedules.h"

#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontends/check.h"
#include "frontends/summary_marks.h"
#include "graph/ops.h"

namespace tandem {
namespace {

Tensor Double(const Tensor& like, double value, SourceLocation loc) {
  return frontends::ScalarConstant(like.graph(), value, DType::kFloat64, loc);
}

bool IsRate(double value) { return std::isfinite(value) && value >= 0; }

// Returns false, and records an error, for a rate that is negative or not finite, or steps that are not positive.
bool CheckSchedule(const Tensor& step, absl::string_view schedule, double rate, double steps,
                   absl::string_view steps_name, SourceLocation loc) {
  if (!step.ok()) return false;
  if (!IsRate(rate)) {
    step.graph()->FailAt(schedule,
                         absl::StrCat("a learning rate must be a number >= 0, got ", rate,
                                      rate == -1 ? ", which it is where none is given" : ""),
                         loc);
    return false;
  }
  if (!(std::isfinite(steps) && steps > 0)) {
    step.graph()->FailAt(schedule, absl::StrCat("`", steps_name, "` must be positive, got ", steps), loc);
    return false;
  }
  return true;
}

// Returns an unused name for the step scalar of a constant rate; a graph may have several optimizers.
std::string FreeName(const GraphBuilder& graph) {
  std::string name = "learning_rate";
  for (int i = 1; graph.HasScalarDefault(name); ++i) name = absl::StrCat("learning_rate_", i);
  return name;
}

// Returns cos(pi p) for p in [0, 1]. It uses the Taylor series of -sin(pi (p - 1/2)), which is exact to 1e-15 on every
// device.
Tensor CosPi(const Tensor& p, SourceLocation loc) {
  Tensor x = Mul(Sub(p, 0.5, loc), std::numbers::pi, loc);
  Tensor x2 = Square(x, loc);
  double coefficient = 1;
  std::vector<double> coefficients;
  for (int k = 1; k <= 21; k += 2) {
    coefficients.push_back(coefficient);
    coefficient /= -(k + 1.0) * (k + 2.0);
  }
  Tensor sum = Double(p, coefficients.back(), loc);
  for (int i = static_cast<int>(coefficients.size()) - 2; i >= 0; --i) {
    sum = Add(Mul(sum, x2, loc), coefficients[i], loc);
  }
  return Neg(Mul(sum, x, loc), loc);
}

// Returns step / decay_steps, rounded down if the option `staircase` is set; an empty tensor after an error.
Tensor Periods(const char* name, const schedules::TimeDecayOptions& o, const Tensor& step, SourceLocation loc) {
  if (!CheckSchedule(step, name, o.initial_learning_rate, o.decay_steps, "decay_steps", loc)) return {};
  if (!IsRate(o.decay_rate)) {
    step.graph()->FailAt(name, absl::StrCat("`decay_rate` must be a number >= 0, got ", o.decay_rate), loc);
    return {};
  }
  Tensor p = Div(step, o.decay_steps, loc);
  return o.staircase ? Floor(p, loc) : p;
}

}  // namespace

Tensor LearningRate::Build(GraphBuilder* graph, SourceLocation loc) const {
  if (graph == nullptr) {
    return Tensor::Poisoned(
        absl::InvalidArgumentError(absl::StrCat("learning_rate at ", loc.file, ":", loc.line, ": the graph is null")));
  }
  if (scheduled_ && !schedule_) return graph->FailAt("learning_rate", "the schedule is a null function", loc);
  if (!scheduled_) {
    if (!IsRate(value_)) {
      return graph->FailAt("learning_rate", absl::StrCat("must be a number >= 0, got ", value_), loc);
    }
    Tensor rate = graph->StepScalar(FreeName(*graph), DType::kFloat32, value_, loc);
    MarkLearningRate(rate, loc);
    return rate;
  }
  NameScope scope(graph, graph->UniqueName("learning_rate"));
  Tensor step = Cast(graph->StepScalar("global_step", DType::kInt64, std::nullopt, loc), DType::kFloat64, loc);
  Tensor rate = schedule_(step);
  if (!rate.ok()) return graph->FailAt("learning_rate", "the schedule returned an empty Tensor", loc);
  if (rate.rank() != 0 || !frontends::IsFloat(rate.dtype())) {
    return graph->FailAt(
        "learning_rate",
        absl::StrCat("the schedule must return a floating-point scalar, got ", frontends::TypeString(rate)), loc);
  }
  if (rate.dtype() != DType::kFloat32) rate = Cast(rate, DType::kFloat32, loc);
  MarkLearningRate(rate, loc);
  return rate;
}

Tensor LearningRate::At(const Tensor& step, SourceLocation loc) const {
  if (scheduled_ && !schedule_ && step.ok()) {
    return step.graph()->FailAt("learning_rate", "the schedule is a null function", loc);
  }
  if (schedule_) return schedule_(step);
  if (!CheckSchedule(step, "learning_rate", value_, 1, "", loc)) return {};
  return Double(step, value_, loc);
}

namespace schedules {

Schedule ExponentialDecay(const ExponentialDecayOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    if (!CheckSchedule(step, "ExponentialDecay", o.initial_learning_rate, o.decay_steps, "decay_steps", loc)) return {};
    if (!(std::isfinite(o.decay_rate) && o.decay_rate > 0)) {
      return step.graph()->FailAt("ExponentialDecay", absl::StrCat("`decay_rate` must be positive, got ", o.decay_rate),
                                  loc);
    }
    Tensor p = Div(step, o.decay_steps, loc);
    if (o.staircase) p = Floor(p, loc);
    return Mul(Pow(Double(step, o.decay_rate, loc), p, loc), o.initial_learning_rate, loc);
  };
}

Schedule InverseTimeDecay(const TimeDecayOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    Tensor p = Periods("InverseTimeDecay", o, step, loc);
    if (!p.ok()) return {};
    return Div(Double(step, o.initial_learning_rate, loc), Add(Mul(p, o.decay_rate, loc), 1.0, loc), loc);
  };
}

Schedule NaturalExpDecay(const TimeDecayOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    Tensor p = Periods("NaturalExpDecay", o, step, loc);
    if (!p.ok()) return {};
    return Mul(Exp(Mul(p, -o.decay_rate, loc), loc), o.initial_learning_rate, loc);
  };
}

Schedule PiecewiseConstant(const PiecewiseConstantOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    if (!step.ok()) return {};
    GraphBuilder* graph = step.graph();
    if (o.values.size() != o.boundaries.size() + 1) {
      return graph->FailAt(
          "PiecewiseConstant",
          absl::StrCat("needs one value more than boundaries, got ", o.values.size(), " and ", o.boundaries.size()),
          loc);
    }
    for (size_t i = 1; i < o.boundaries.size(); ++i) {
      if (!(o.boundaries[i - 1] < o.boundaries[i])) {
        return graph->FailAt("PiecewiseConstant",
                             absl::StrCat("`boundaries` must increase, got ", absl::StrJoin(o.boundaries, ", ")), loc);
      }
    }
    for (double value : o.values) {
      if (!CheckSchedule(step, "PiecewiseConstant", value, 1, "", loc)) return {};
    }
    Tensor rate = Double(step, o.values.back(), loc);
    for (size_t i = o.boundaries.size(); i-- > 0;) {
      Tensor before = LessEqual(step, Double(step, o.boundaries[i], loc), loc);
      rate = Select(before, Double(step, o.values[i], loc), rate, loc);
    }
    return rate;
  };
}

Schedule PolynomialDecay(const PolynomialDecayOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    if (!CheckSchedule(step, "PolynomialDecay", o.initial_learning_rate, o.decay_steps, "decay_steps", loc) ||
        !CheckSchedule(step, "PolynomialDecay", o.end_learning_rate, 1, "", loc)) {
      return {};
    }
    if (!(std::isfinite(o.power) && o.power > 0)) {
      return step.graph()->FailAt("PolynomialDecay", absl::StrCat("`power` must be positive, got ", o.power), loc);
    }
    Tensor p = Div(step, o.decay_steps, loc);
    if (o.cycle) {
      // With the option `cycle`, the current period ends after ceil(step / decay_steps) * decay_steps steps; at step 0
      // it ends after decay_steps.
      Tensor periods = Maximum(Neg(Floor(Neg(p, loc), loc), loc), 1.0, loc);
      p = Div(p, periods, loc);
    } else {
      p = Minimum(p, 1.0, loc);
    }
    Tensor rest = Add(Neg(p, loc), 1.0, loc);
    if (o.power != 1) rest = Pow(rest, o.power, loc);
    return Add(Mul(rest, o.initial_learning_rate - o.end_learning_rate, loc), o.end_learning_rate, loc);
  };
}

Schedule CosineDecay(const CosineDecayOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    if (!CheckSchedule(step, "CosineDecay", o.initial_learning_rate, o.decay_steps, "decay_steps", loc) ||
        !CheckSchedule(step, "CosineDecay", o.alpha, 1, "", loc)) {
      return {};
    }
    Tensor p = Minimum(Div(step, o.decay_steps, loc), 1.0, loc);
    Tensor cosine = Mul(Add(CosPi(p, loc), 1.0, loc), 0.5, loc);
    return Mul(Add(Mul(cosine, 1 - o.alpha, loc), o.alpha, loc), o.initial_learning_rate, loc);
  };
}

Schedule CosineDecayRestarts(const CosineDecayRestartsOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    constexpr char kName[] = "CosineDecayRestarts";
    if (!CheckSchedule(step, kName, o.initial_learning_rate, o.first_decay_steps, "first_decay_steps", loc) ||
        !CheckSchedule(step, kName, o.alpha, 1, "", loc)) {
      return {};
    }
    for (const auto& [option, value, low] : {std::tuple("t_mul", o.t_mul, 1.0), std::tuple("m_mul", o.m_mul, 0.0)}) {
      if (std::isfinite(value) && value >= low && value > 0) continue;
      return step.graph()->FailAt(
          kName,
          absl::StrCat("`", option, "` must be ", low > 0 ? "a number of at least 1" : "a positive number", ", got ",
                       value),
          loc);
    }
    Tensor done = Div(step, o.first_decay_steps, loc), period, part;
    // Prevents that rounding assigns the step of a restart to the previous period.
    constexpr double kRounding = 1e-9;
    if (o.t_mul == 1) {
      period = Floor(Add(done, kRounding, loc), loc);
      part = Sub(done, period, loc);
    } else {
      // The periods before period i together have (t_mul^i - 1) / (t_mul - 1) times as many steps as the first period.
      Tensor grown = Add(Mul(done, o.t_mul - 1, loc), 1.0, loc);
      period = Floor(Add(Div(Log(grown, loc), std::log(o.t_mul), loc), kRounding, loc), loc);
      Tensor length = Pow(Double(step, o.t_mul, loc), period, loc);
      part = Div(Sub(done, Div(Sub(length, 1.0, loc), o.t_mul - 1, loc), loc), length, loc);
    }
    part = Minimum(Maximum(part, 0.0, loc), 1.0, loc);
    Tensor start = o.m_mul == 1 ? Double(step, 1, loc) : Pow(Double(step, o.m_mul, loc), period, loc);
    Tensor cosine = Mul(Mul(Add(CosPi(part, loc), 1.0, loc), 0.5, loc), start, loc);
    return Mul(Add(Mul(cosine, 1 - o.alpha, loc), o.alpha, loc), o.initial_learning_rate, loc);
  };
}

Schedule OneCycle(const OneCycleOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    constexpr char kName[] = "OneCycle";
    if (!CheckSchedule(step, kName, o.max_learning_rate, o.total_steps, "total_steps", loc)) return {};
    if (!(o.rising_share > 0 && o.rising_share < 1)) {
      return step.graph()->FailAt(kName, absl::StrCat("`rising_share` must be in (0, 1), got ", o.rising_share), loc);
    }
    for (const auto& [option, value] :
         {std::pair("div_factor", o.div_factor), std::pair("final_div_factor", o.final_div_factor)}) {
      if (std::isfinite(value) && value > 0) continue;
      return step.graph()->FailAt(kName, absl::StrCat("`", option, "` must be a positive number, got ", value), loc);
    }
    const double first = o.max_learning_rate / o.div_factor, last = first / o.final_div_factor;
    const double rise = o.rising_share * o.total_steps;
    auto between = [&](double start, double end, const Tensor& part) {
      Tensor cosine = Mul(Add(CosPi(part, loc), 1.0, loc), 0.5, loc);
      return Add(Mul(cosine, start - end, loc), end, loc);
    };
    Tensor up = between(first, o.max_learning_rate, Minimum(Div(step, rise, loc), 1.0, loc));
    Tensor fallen = Div(Maximum(Sub(step, rise, loc), 0.0, loc), o.total_steps - rise, loc);
    Tensor down = between(o.max_learning_rate, last, Minimum(fallen, 1.0, loc));
    return Select(Less(step, Double(step, rise, loc), loc), up, down, loc);
  };
}

Schedule LinearWarmup(const LinearWarmupOptions& o, SourceLocation loc) {
  return [o, loc](const Tensor& step) -> Tensor {
    if (!CheckSchedule(step, "LinearWarmup", 0, o.warmup_steps, "warmup_steps", loc)) return {};
    if (!(o.start_factor >= 0 && o.start_factor <= 1)) {
      return step.graph()->FailAt("LinearWarmup",
                                  absl::StrCat("`start_factor` must be in [0, 1], got ", o.start_factor), loc);
    }
    Tensor after = o.then.At(Maximum(Sub(step, o.warmup_steps, loc), 0.0, loc), loc);
    Tensor p = Minimum(Div(step, o.warmup_steps, loc), 1.0, loc);
    return Mul(Add(Mul(p, 1 - o.start_factor, loc), o.start_factor, loc), after, loc);
  };
}

}  // namespace schedules
}  // namespace tandem
