// WatchedValues: warns when a value that is only watched is NaN or infinite.
#ifndef TANDEM_ESTIMATOR_HOOKS_WATCHED_VALUES_H_
#define TANDEM_ESTIMATOR_HOOKS_WATCHED_VALUES_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Summaries and metrics of a training enter no update: they are recorded as they are, and training goes on. Warns once
// for each value, the first time that it was fetched, by any hook, and was not finite.
class WatchedValues {
 public:
  using Warn = std::function<void(const std::string& message)>;
  // `watched` maps the name of a tensor to a description for the user, such as 'the summary "norm" at model.cc:12'.
  WatchedValues(std::map<std::string, std::string> watched, Warn warn)
      : watched_(std::move(watched)), warn_(std::move(warn)) {}

  // `values` has all tensors that were fetched in a step.
  void Look(const RunValues& values);

 private:
  std::map<std::string, std::string> watched_;  // the entries of `watched` whose values were finite so far
  const Warn warn_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_WATCHED_VALUES_H_
