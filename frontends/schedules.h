// Learning rates that depend on the global step, built into the graph and computed in double precision.
#ifndef TANDEM_FRONTENDS_SCHEDULES_H_
#define TANDEM_FRONTENDS_SCHEDULES_H_

#include <functional>
#include <utility>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// A function from the number of finished steps (a float64 scalar) to the learning rate (a float64 scalar).
using Schedule = std::function<Tensor(const Tensor& step)>;

// An optimizer's learning rate: a number or a schedule.
class LearningRate {
 public:
  LearningRate(double value) : value_(value) {}                                          // NOLINT: implicit
  LearningRate(Schedule schedule) : scheduled_(true), schedule_(std::move(schedule)) {}  // NOLINT: implicit

  // Returns the rate as a float32 scalar of `graph`. A number becomes a step scalar, which a run can set without
  // another compilation: "learning_rate" for the first in the graph, then "learning_rate_1" and so on. It must be
  // finite and not negative.
  Tensor Build(GraphBuilder* graph, SourceLocation loc = SourceLocation::Current()) const;

  // Returns the rate as a float64 scalar at `step` (float64): the schedule's value, or the number as a constant.
  // Schedules that contain another rate call it.
  Tensor At(const Tensor& step, SourceLocation loc = SourceLocation::Current()) const;

 private:
  double value_ = 0;
  bool scheduled_ = false;
  Schedule schedule_;
};

namespace schedules {

struct ExponentialDecayOptions {
  double initial_learning_rate = -1;  // required
  double decay_steps = 0;             // required
  double decay_rate = 0.96;
  bool staircase = false;  // if true, the rate changes only at whole multiples of decay_steps
};
// initial * decay_rate ^ (step / decay_steps).
Schedule ExponentialDecay(const ExponentialDecayOptions& options, SourceLocation loc = SourceLocation::Current());

struct TimeDecayOptions {
  double initial_learning_rate = -1;  // required
  double decay_steps = 0;             // required
  double decay_rate = 0.5;
  bool staircase = false;  // if true, the rate changes only at whole multiples of decay_steps
};
// initial / (1 + decay_rate * step / decay_steps).
Schedule InverseTimeDecay(const TimeDecayOptions& options, SourceLocation loc = SourceLocation::Current());
// initial * e ^ (-decay_rate * step / decay_steps).
Schedule NaturalExpDecay(const TimeDecayOptions& options, SourceLocation loc = SourceLocation::Current());

struct PiecewiseConstantOptions {
  std::vector<double> boundaries;  // steps in increasing order
  std::vector<double> values;      // one value more than there are boundaries
};
// values[i] for boundaries[i - 1] < step <= boundaries[i].
Schedule PiecewiseConstant(const PiecewiseConstantOptions& options, SourceLocation loc = SourceLocation::Current());

struct PolynomialDecayOptions {
  double initial_learning_rate = -1;  // required
  double decay_steps = 0;             // required
  double end_learning_rate = 1e-4;
  double power = 1;
  // If true, the rate starts again at multiples of decay_steps, each time with a longer period.
  bool cycle = false;
};
// (initial - end) * (1 - min(step, decay_steps) / decay_steps) ^ power + end.
Schedule PolynomialDecay(const PolynomialDecayOptions& options, SourceLocation loc = SourceLocation::Current());

struct CosineDecayOptions {
  double initial_learning_rate = -1;  // required
  double decay_steps = 0;             // required
  double alpha = 0;                   // fraction of the initial rate that remains at the end
};
// Loshchilov and Hutter 2016, without restarts: initial * ((1 - alpha) (1 + cos(pi min(step, steps) / steps)) / 2 +
// alpha).
Schedule CosineDecay(const CosineDecayOptions& options, SourceLocation loc = SourceLocation::Current());

struct CosineDecayRestartsOptions {
  double initial_learning_rate = -1;  // required
  double first_decay_steps = 0;       // required
  double t_mul = 2;                   // length of each period relative to the previous one; at least 1
  double m_mul = 1;                   // initial rate of each period relative to that of the previous one
  double alpha = 0;                   // fraction of the initial rate that remains at the end of a period
};
// Loshchilov and Hutter 2016 as in Keras. In period i, after the fraction p of its steps, the rate is initial * ((1 -
// alpha) m_mul^i (1 + cos(pi p)) / 2 + alpha).
Schedule CosineDecayRestarts(const CosineDecayRestartsOptions& options, SourceLocation loc = SourceLocation::Current());

struct OneCycleOptions {
  double max_learning_rate = -1;  // required
  double total_steps = 0;         // required
  double rising_share = 0.3;      // fraction of the steps in which the rate rises, in (0, 1)
  double div_factor = 25;         // the first rate is max / div_factor; positive
  double final_div_factor = 1e4;  // the last rate is the first one / final_div_factor; positive
};
// Smith and Topin 2018, with cosines as PyTorch's OneCycleLR. The rate rises from the first rate to the largest over
// rising_share of the steps, then falls to the last rate, and stays there. After the fraction p of a phase from rate a
// to rate b, the rate is b + (a - b) (1 + cos(pi p)) / 2.
Schedule OneCycle(const OneCycleOptions& options, SourceLocation loc = SourceLocation::Current());

struct LinearWarmupOptions {
  double warmup_steps = 0;  // required
  double start_factor = 0;  // rate at step 0, as a share of then(0)
  // Required: the rate after the warm-up. A schedule starts from its step 0 then.
  LearningRate then = -1.0;
};
// The rate rises linearly from start_factor * then(0) to then(0) over warmup_steps. Afterwards it is then(step -
// warmup_steps).
Schedule LinearWarmup(const LinearWarmupOptions& options, SourceLocation loc = SourceLocation::Current());

}  // namespace schedules
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SCHEDULES_H_
