// WatchedValues: says that a number which is only watched is NaN or infinite.
#ifndef TANDEM_ESTIMATOR_HOOKS_WATCHED_VALUES_H_
#define TANDEM_ESTIMATOR_HOOKS_WATCHED_VALUES_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "estimator/session_run_hook.h"

namespace tandem {

// Summaries and metrics of a training enter no update: they are recorded as they are, and training goes on. Of each the
// first time is told in which it was fetched, by whatever hook, and was not finite.
class WatchedValues {
 public:
  using Warn = std::function<void(const std::string& message)>;
  // `watched`: by the name of a tensor what it is to the user, 'the summary "norm" at model.cc:12'.
  WatchedValues(std::map<std::string, std::string> watched, Warn warn)
      : watched_(std::move(watched)), warn_(std::move(warn)) {}

  // `values`: all that was fetched in a step.
  void Look(const RunValues& values);

 private:
  std::map<std::string, std::string> watched_;  // those that were finite so far
  const Warn warn_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_WATCHED_VALUES_H_
