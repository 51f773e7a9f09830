// MakeCooperation: chooses how this process works on a job: alone, or in which way with the other tasks of a cluster.
#ifndef TANDEM_ESTIMATOR_JOB_MAKE_COOPERATION_H_
#define TANDEM_ESTIMATOR_JOB_MAKE_COOPERATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "estimator/config/run_config.h"
#include "estimator/job/cooperation.h"

namespace tandem {

// Returns the cooperation that the configuration or the environment describes; sets config->tls to the files that its
// connections use. `context.config` must be *config. Errors: those of RunConfig::ResolvedCluster and ResolvedTls;
// InvalidArgument (exit code 2) if the strategies do not fit the cluster.
absl::StatusOr<std::unique_ptr<Cooperation>> MakeCooperation(RunConfig* config, const Cooperation::Context& context);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_MAKE_COOPERATION_H_
