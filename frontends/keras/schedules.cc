#include "frontends/keras/schedules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/check.h"
#include "frontends/config_reader.h"
#include "graph/ops.h"

namespace tandem::keras::optimizers::schedules {
namespace {

// Returns whole numbers as an integer, because Keras writes a number of steps that the user wrote as an integer that
// way.
PartConfig::Value Steps(double steps) {
  const bool whole = std::floor(steps) == steps && std::abs(steps) < 1e15;
  return whole ? PartConfig::Value(static_cast<int64_t>(steps)) : PartConfig::Value(steps);
}

PartConfig::Value NoName() { return std::monostate(); }

}  // namespace

Rate ExponentialDecay(const tandem::schedules::ExponentialDecayOptions& o, SourceLocation loc) {
  return {{"ExponentialDecay",
           {{"initial_learning_rate", o.initial_learning_rate},
            {"decay_steps", Steps(o.decay_steps)},
            {"decay_rate", o.decay_rate},
            {"staircase", o.staircase},
            {"name", NoName()}}},
          tandem::schedules::ExponentialDecay(o, loc)};
}

Rate PiecewiseConstantDecay(const tandem::schedules::PiecewiseConstantOptions& o, SourceLocation loc) {
  return {{"PiecewiseConstantDecay", {{"boundaries", o.boundaries}, {"values", o.values}, {"name", NoName()}}},
          tandem::schedules::PiecewiseConstant(o, loc)};
}

Rate PolynomialDecay(const tandem::schedules::PolynomialDecayOptions& o, SourceLocation loc) {
  return {{"PolynomialDecay",
           {{"initial_learning_rate", o.initial_learning_rate},
            {"decay_steps", Steps(o.decay_steps)},
            {"end_learning_rate", o.end_learning_rate},
            {"power", o.power},
            {"cycle", o.cycle},
            {"name", NoName()}}},
          tandem::schedules::PolynomialDecay(o, loc)};
}

Rate InverseTimeDecay(const tandem::schedules::TimeDecayOptions& o, SourceLocation loc) {
  return {{"InverseTimeDecay",
           {{"initial_learning_rate", o.initial_learning_rate},
            {"decay_steps", Steps(o.decay_steps)},
            {"decay_rate", o.decay_rate},
            {"staircase", o.staircase},
            {"name", NoName()}}},
          tandem::schedules::InverseTimeDecay(o, loc)};
}

Rate CosineDecayRestarts(const tandem::schedules::CosineDecayRestartsOptions& o, SourceLocation loc) {
  return {{"CosineDecayRestarts",
           {{"initial_learning_rate", o.initial_learning_rate},
            {"first_decay_steps", Steps(o.first_decay_steps)},
            {"t_mul", o.t_mul},
            {"m_mul", o.m_mul},
            {"alpha", o.alpha},
            {"name", NoName()}}},
          tandem::schedules::CosineDecayRestarts(o, loc)};
}

Rate CosineDecay(const CosineDecayOptions& o, SourceLocation loc) {
  PartConfig config = {"CosineDecay",
                       {{"initial_learning_rate", o.initial_learning_rate},
                        {"decay_steps", Steps(o.decay_steps)},
                        {"alpha", o.alpha},
                        {"name", NoName()},
                        {"warmup_target", o.warmup_target.has_value() ? PartConfig::Value(*o.warmup_target) : NoName()},
                        {"warmup_steps", Steps(o.warmup_steps)}}};
  const double target = o.warmup_target.value_or(o.initial_learning_rate);
  Schedule decay = tandem::schedules::CosineDecay(
      {.initial_learning_rate = target, .decay_steps = o.decay_steps, .alpha = o.alpha}, loc);
  if (!o.warmup_target.has_value()) return {std::move(config), std::move(decay)};
  return {std::move(config), [o, target, decay, loc](const Tensor& step) -> Tensor {
            if (!step.ok()) return {};
            for (const auto& [option, value] : {std::pair("warmup_steps", o.warmup_steps),
                                                std::pair("initial_learning_rate", o.initial_learning_rate)}) {
              if (std::isfinite(value) && value >= 0) continue;
              return step.graph()->FailAt("CosineDecay",
                                          absl::StrCat("`", option, "` must be a number >= 0, got ", value), loc);
            }
            if (o.warmup_steps == 0) return decay(step);
            Tensor rise = Mul(Div(step, o.warmup_steps, loc), target - o.initial_learning_rate, loc);
            Tensor warm = Add(rise, o.initial_learning_rate, loc);
            Tensor after = decay(Maximum(Sub(step, o.warmup_steps, loc), 0.0, loc));
            if (!after.ok()) return after;
            return Select(Less(step, o.warmup_steps, loc), warm, after, loc);
          }};
}

absl::StatusOr<Rate> FromConfig(const PartConfig& config, SourceLocation loc) {
  frontends::ConfigReader reader("schedule", config);
  reader.Ignore({"name"});
  const std::string& name = config.class_name;
  auto required = [&](absl::string_view key) {
    if (!reader.Has(key)) reader.Fail(key, "given");
    return reader.Number(key, 0);
  };
  auto finish = [&](Rate rate) -> absl::StatusOr<Rate> {
    TD_RETURN_IF_ERROR(reader.Finish());
    return rate;
  };
  if (name == "PiecewiseConstantDecay") {
    return finish(
        PiecewiseConstantDecay({.boundaries = reader.Numbers("boundaries"), .values = reader.Numbers("values")}, loc));
  }
  const std::vector<std::string> names = {"ExponentialDecay", "PiecewiseConstantDecay",
                                          "PolynomialDecay",  "InverseTimeDecay",
                                          "CosineDecay",      "CosineDecayRestarts"};
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return frontends::UnknownNameError("schedule", name, names);
  }
  const double initial = required("initial_learning_rate");
  if (name == "CosineDecayRestarts") {
    return finish(CosineDecayRestarts({.initial_learning_rate = initial,
                                       .first_decay_steps = required("first_decay_steps"),
                                       .t_mul = reader.Number("t_mul", 2),
                                       .m_mul = reader.Number("m_mul", 1),
                                       .alpha = reader.Number("alpha", 0)},
                                      loc));
  }
  const double steps = required("decay_steps");
  if (name == "ExponentialDecay") {
    return finish(ExponentialDecay({.initial_learning_rate = initial,
                                    .decay_steps = steps,
                                    .decay_rate = required("decay_rate"),
                                    .staircase = reader.Flag("staircase", false)},
                                   loc));
  }
  if (name == "InverseTimeDecay") {
    return finish(InverseTimeDecay({.initial_learning_rate = initial,
                                    .decay_steps = steps,
                                    .decay_rate = required("decay_rate"),
                                    .staircase = reader.Flag("staircase", false)},
                                   loc));
  }
  if (name == "PolynomialDecay") {
    return finish(PolynomialDecay({.initial_learning_rate = initial,
                                   .decay_steps = steps,
                                   .end_learning_rate = reader.Number("end_learning_rate", 1e-4),
                                   .power = reader.Number("power", 1),
                                   .cycle = reader.Flag("cycle", false)},
                                  loc));
  }
  return finish(CosineDecay({.initial_learning_rate = initial,
                             .decay_steps = steps,
                             .alpha = reader.Number("alpha", 0),
                             .warmup_target = reader.OptionalNumber("warmup_target"),
                             .warmup_steps = reader.Number("warmup_steps", 0)},
                            loc));
}

}  // namespace tandem::keras::optimizers::schedules
