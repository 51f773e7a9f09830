// The optimizers, schedules and ways to clip of the oracle: each one twice, as models.h.
#ifndef TANDEM_TESTS_ORACLE_OPTIMIZER_CASES_H_
#define TANDEM_TESTS_ORACLE_OPTIMIZER_CASES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/clipping.h"
#include "frontends/optimizer.h"
#include "graph/tensor.h"
#include "tests/oracle/reference_optimizers.h"

namespace tandem::oracle {

struct OptimizerCase {
  std::string name;
  std::function<TrainOp(const Tensor& loss, const ClipOptions& clip)> minimize;
  // By finished steps.
  std::function<double(int64_t step)> rate;
  ref::UpdateFn update;
  std::vector<std::string> slots = {};  // what follows the variable's name: "/Momentum"
  // The optimizers that meet every model; the others are schedules, options and clipping by hand, which do not depend
  // on the model and meet three of them.
  bool main = false;
  // Whether it meets all ways of clipping, as those of `main` do.
  bool clips = false;
  // Multiplies the rate of a variable, by all of its elements. Empty: 1.
  ref::ScaleFn scale = {};
  // What the model_fn does with the gradients itself.
  std::function<void(ref::Gradients&)> treat = {};
  // Trains the first variable only.
  bool first_variable_only = false;
  // What the group of a variable changes for it. Empty: nothing for any.
  struct Group {
    double rate_factor = 1;
    double decay = 0;  // w -= rate decay w
    bool frozen = false;
    std::optional<ClipOptions> clip = std::nullopt;  // of all variables with the same `part` together
    int part = 0;
  };
  std::function<Group(const std::string& variable)> group = {};
  // The decay of moving averages in a step, and whether statistics have averages too. Empty: there are none.
  std::function<double(int64_t step)> average_decay = {};
  bool average_statistics = false;
};

const std::vector<OptimizerCase>& OptimizerCases();

// A rate, or a decay, that is the same in all steps.
inline std::function<double(int64_t)> Constant(double value) {
  return [value](int64_t) { return value; };
}

// `optimizer(clip)` with a constant rate.
template <typename MakeOptimizer>
OptimizerCase CaseOf(std::string name, MakeOptimizer optimizer, double rate, ref::UpdateFn update,
                     std::vector<std::string> slots) {
  return {.name = std::move(name),
          .minimize = [optimizer](const Tensor& loss, const ClipOptions& c) { return optimizer(c).Minimize(loss); },
          .rate = Constant(rate),
          .update = std::move(update),
          .slots = std::move(slots)};
}

// The limits of clipping: small enough to be reached by nearly every model.
inline constexpr double kClipNorm = 0.3, kClipValue = 0.05;

struct ClipCase {
  std::string name;
  ClipOptions options;
};
const std::vector<ClipCase>& ClipCases();

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_OPTIMIZER_CASES_H_
