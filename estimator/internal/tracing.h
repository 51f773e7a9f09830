// Tracing: the trace that an Estimator records, if it is asked for one.
#ifndef TANDEM_ESTIMATOR_INTERNAL_TRACING_H_
#define TANDEM_ESTIMATOR_INTERNAL_TRACING_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "estimator/config/run_config.h"
#include "estimator/trace/tracer.h"

namespace tandem {

class Tracing {
 public:
  // Makes the tracer that the configuration or the environment asks for. Workers after the first one write files of
  // their own. InvalidArgument if the steps in the environment cannot be parsed; those of the configuration are already
  // checked.
  absl::Status Configure(const RunConfig& config, int64_t rank);
  // Null if nothing is traced.
  Tracer* tracer() const { return tracer_.get(); }
  // Returns an error if the trace file cannot be written.
  absl::Status CheckFile() const;
  // Remembers `of_loop`, an error of writing traces, which must not end a training. If `training` is false, returns the
  // first remembered error, once.
  absl::Status TakeStatus(const absl::Status& of_loop, bool training);

 private:
  std::unique_ptr<Tracer> tracer_;
  absl::Status status_;  // the first error that no call has returned
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_TRACING_H_
