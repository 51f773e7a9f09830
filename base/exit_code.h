// Exit codes of processes. Batch systems decide by them whether to restart a job, so they are part of the API.
#ifndef TANDEM_BASE_EXIT_CODE_H_
#define TANDEM_BASE_EXIT_CODE_H_

#include "absl/status/status.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

inline constexpr int kExitOk = 0;             // done, and all results were written
inline constexpr int kExitInternal = 1;       // a bug; a loss that is not finite; a check that found a difference
inline constexpr int kExitUsage = 2;          // usage or configuration: the same command fails again
inline constexpr int kExitBadData = 65;       // damaged or malformed data
inline constexpr int kExitMissingInput = 66;  // an input file is not there
inline constexpr int kExitCompileError = 70;  // the compiler could not compile the user's model
inline constexpr int kExitIo = 74;            // not writable, disk full, read error
inline constexpr int kExitTemporary = 75;     // a peer was lost or the model_dir is in use: starting again may help
inline constexpr int kExitHangup = 129;       // clean stop after SIGHUP
inline constexpr int kExitInterrupted = 130;  // clean stop after SIGINT
inline constexpr int kExitTerminated = 143;   // clean stop after SIGTERM

// Returns `status` marked with the exit code of the process. OK stays OK.
absl::Status WithExitCode(absl::Status status, int exit_code);

// Returns the code that `status` was marked with, else the default for its kind:
//   InvalidArgument, FailedPrecondition, AlreadyExists, Unimplemented  2
//   DataLoss, OutOfRange                                              65
//   NotFound                                                          66
//   PermissionDenied, ResourceExhausted                               74
//   Aborted, Unavailable, DeadlineExceeded                            75
//   Cancelled                                                        130
//   all others                                                         1
int ExitCodeFor(const absl::Status& status);

}  // namespace tandem

#endif  // TANDEM_BASE_EXIT_CODE_H_
