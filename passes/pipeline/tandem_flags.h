// The environment variable TANDEM_FLAGS: options of tandem-opt for programs that compile.
#ifndef TANDEM_PASSES_PIPELINE_TANDEM_FLAGS_H_
#define TANDEM_PASSES_PIPELINE_TANDEM_FLAGS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "passes/base/compile_options.h"

namespace tandem {

// Adds the options in `text` to `options`. They are separated by spaces, each may be repeated:
//   --disable-pass=NAME  --print-ir-before=PASS  --print-ir-after=PASS
//   --kernel-cache=DIR   where compiled kernels are kept, for several model directories
//   --machine-model=FILE constants of the cost model (tandem-calibrate writes one); the last one counts
//   --bfloat16-allow=OP  --bfloat16-infer=OP  --bfloat16-clear=OP  --bfloat16-deny=OP
//                        moves an op ("max_pool") to that list of mixed precision (RunConfig.mixed_precision_lists)
//   --choose=NAME:ALGORITHM  how an op, a layer with its gradients, or every (*) convolution and product is computed,
//                        where the algorithm is able to; tandem-dump --contractions lists both
//   --guard-buffers      memory around every buffer of a session on CPUs is watched, and commands that write there are
//                        errors (docs/developers/sanitizers.md)
//   --sanitize=NAME      kernels of CPUs with the address or thread sanitizer, or none; without it, with that of the
//                        program (docs/developers/sanitizers.md)
//   --timing             the time of every pass and kernel, on stderr
//   --crash-reproducer=FILE  the program before the pass that fails or crashes, for tandem-opt run-reproducer
// InvalidArgument, naming it, for anything else. Pass names are checked by the pipeline.
absl::Status ApplyTandemFlags(absl::string_view text, CompileOptions* options);

}  // namespace tandem

#endif  // TANDEM_PASSES_PIPELINE_TANDEM_FLAGS_H_
