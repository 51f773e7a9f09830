// Learning rates as Keras' optimizers take them: numbers, or its schedules with what a file says of them.
#ifndef TANDEM_FRONTENDS_KERAS_SCHEDULES_H_
#define TANDEM_FRONTENDS_KERAS_SCHEDULES_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "frontends/part_config.h"
#include "frontends/schedules.h"

namespace tandem::keras::optimizers {

// A number, which callbacks can set, one of the schedules below, or one of Tandem's own, which no file can hold.
class Rate {
 public:
  Rate(double value) : rate_(value), number_(value) {}     // NOLINT: implicit
  Rate(Schedule schedule) : rate_(std::move(schedule)) {}  // NOLINT: implicit
  Rate(PartConfig config, Schedule schedule)
      : rate_(std::move(schedule)), schedule_(std::make_shared<const PartConfig>(std::move(config))) {}

  const LearningRate& rate() const { return rate_; }
  // The number of a rate that is one.
  const std::optional<double>& number() const { return number_; }
  // Of a schedule of this file; else null.
  const std::shared_ptr<const PartConfig>& schedule() const { return schedule_; }

 private:
  LearningRate rate_;
  std::optional<double> number_;
  std::shared_ptr<const PartConfig> schedule_;
};

namespace schedules {

// Those of frontends/schedules.h with Keras' names.
Rate ExponentialDecay(const tandem::schedules::ExponentialDecayOptions& options,
                      SourceLocation loc = SourceLocation::Current());
Rate PiecewiseConstantDecay(const tandem::schedules::PiecewiseConstantOptions& options,
                            SourceLocation loc = SourceLocation::Current());
Rate PolynomialDecay(const tandem::schedules::PolynomialDecayOptions& options,
                     SourceLocation loc = SourceLocation::Current());
Rate InverseTimeDecay(const tandem::schedules::TimeDecayOptions& options,
                      SourceLocation loc = SourceLocation::Current());
Rate CosineDecayRestarts(const tandem::schedules::CosineDecayRestartsOptions& options,
                         SourceLocation loc = SourceLocation::Current());

struct CosineDecayOptions {
  double initial_learning_rate = -1;  // required
  double decay_steps = 0;             // required; counted from the end of the warm-up
  double alpha = 0;                   // the share of the largest rate that is left at the end
  // The rate that warmup_steps steps lead to, on a line from the initial one, and that decays then.
  std::optional<double> warmup_target = std::nullopt;
  double warmup_steps = 0;
};
Rate CosineDecay(const CosineDecayOptions& options, SourceLocation loc = SourceLocation::Current());

// What a file says. InvalidArgument for a class that is not known and for values of the wrong type; values that make no
// sense are errors of the graph that the rate is built into.
absl::StatusOr<Rate> FromConfig(const PartConfig& config, SourceLocation loc = SourceLocation::Current());

}  // namespace schedules
}  // namespace tandem::keras::optimizers

#endif  // TANDEM_FRONTENDS_KERAS_SCHEDULES_H_
