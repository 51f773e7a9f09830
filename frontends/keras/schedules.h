// Learning rates for Keras' optimizers: numbers, or Keras' schedules with their description for files.
#ifndef TANDEM_FRONTENDS_KERAS_SCHEDULES_H_
#define TANDEM_FRONTENDS_KERAS_SCHEDULES_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/part_config.h"
#include "tandem/frontends/schedules.h"

namespace TANDEM_API tandem {
namespace keras::optimizers {

// A learning rate: a number, which callbacks can set, one of the schedules below, or a schedule of Tandem, which model
// files cannot describe.
class Rate {
 public:
  Rate(double value) : rate_(value), number_(value) {}     // NOLINT: implicit
  Rate(Schedule schedule) : rate_(std::move(schedule)) {}  // NOLINT: implicit
  Rate(PartConfig config, Schedule schedule)
      : rate_(std::move(schedule)), schedule_(std::make_shared<const PartConfig>(std::move(config))) {}

  const LearningRate& rate() const { return rate_; }
  // The number; nullopt for a schedule.
  const std::optional<double>& number() const { return number_; }
  // The description for model files; null unless the rate is one of the schedules below.
  const std::shared_ptr<const PartConfig>& schedule() const { return schedule_; }

 private:
  LearningRate rate_;
  std::optional<double> number_;
  std::shared_ptr<const PartConfig> schedule_;
};

namespace schedules {

// The schedules of frontends/schedules.h under Keras' names.
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
  double alpha = 0;                   // fraction of the largest rate that remains at the end
  // If set, the rate rises linearly from initial_learning_rate to this one over warmup_steps steps, and then decays.
  std::optional<double> warmup_target = std::nullopt;
  double warmup_steps = 0;
};
// A cosine from the largest rate to the fraction alpha of it, after a linear warm-up if there is one.
Rate CosineDecay(const CosineDecayOptions& options, SourceLocation loc = SourceLocation::Current());

// Makes a schedule from its class and arguments in a model file. InvalidArgument for an unknown class and for values of
// the wrong type; invalid values are errors of the graph in which the rate is built.
absl::StatusOr<Rate> FromConfig(const PartConfig& config, SourceLocation loc = SourceLocation::Current());

}  // namespace schedules
}  // namespace keras::optimizers
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_SCHEDULES_H_
