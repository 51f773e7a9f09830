// The session of device class "gpu".
#ifndef TANDEM_RUNTIME_CUDA_RUN_CUDA_SESSION_H_
#define TANDEM_RUNTIME_CUDA_RUN_CUDA_SESSION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// Makes a session for NVIDIA GPUs. Errors: those of Session::Create.
absl::StatusOr<std::unique_ptr<Session>> NewCudaSession(std::shared_ptr<const Executable> executable,
                                                        std::shared_ptr<VariableStore> variables,
                                                        Session::Options options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_CUDA_SESSION_H_
