// Runs compiled programs against the reference interpreter.
#ifndef TANDEM_TESTS_COMPILED_HARNESS_H_
#define TANDEM_TESTS_COMPILED_HARNESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/precision.h"
#include "graph/graph_builder.h"
#include "graph/reference/reference.h"
#include "passes/base/compile_options.h"
#include "runtime/executable/executable.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem::compiled {

using BuildFn = std::function<void(GraphBuilder&)>;

struct Options {
  int devices = 1;
  int processes = 1;          // that the graph is told of; all devices are of this one
  int64_t batch = 16;         // per replica
  std::vector<int64_t> rows;  // per replica, at most `batch`; empty: all full
  int threads = 2;
  int lanes = 0;
  int microbatch_rows = 0;
  int64_t memory_limit = 0;
  int steps = 2;
  std::string mode = "train";
  Precision precision = Precision::kFloat32;
  StepPart part;  // of a step that parameter servers share
  std::string cross_device_ops;
  DType communication_dtype = DType::kFloat32;
  std::string target = "cpu:native";
  std::string device_kind = "cpu";        // devices are DEVICE_KIND:0 and so on
  std::vector<std::string> contractions;  // as in CompileOptions
  std::string kernel_cache_dir;           // empty: one of this process, so that no kernel is compiled twice
  double l2_bytes = 0;                    // of the machine that is compiled for; 0: of the target's
  // Inputs by name: floats uniform in [low, high), integers in {low, .., high - 1}. Default: [-1, 1) and {0, .., 3}.
  std::map<std::string, std::pair<double, double>> ranges;
  // Of the largest magnitude of a value; for a variable, of its largest change in the step.
  double tolerance = 2e-5;
};

struct Case {
  std::string name;
  BuildFn build;
  Options options;
};
inline void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

// A compiled graph, ready to run, with its variables initialised. Zero variables start from small random numbers, so
// that no term of a formula is left out by chance.
struct Program {
  std::unique_ptr<GraphBuilder> graph;
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<VariableStore> variables;
  std::unique_ptr<Session> session;

  // All variables and slots by name.
  TensorMap Values() const;
  // Runs one step and fetches every output.
  absl::StatusOr<StepResult> Run(const StepInputs& inputs);
};
// CompileOptions.machine_model for mixed_bfloat16: where nothing is gained by it on what `target` is taken to be, and
// the program would be float32, a machine that multiplies bfloat16 numbers twice as fast. Empty elsewhere.
std::string MachineForBFloat16(const std::string& target);

// Where TANDEM_TEST_TARGET is set, "cuda:sm_90" for example, and the options name no target: the same rows on one
// device of that target, whatever the options say of devices, lanes, microbatches and algorithms.
Options OnTestTarget(Options options);

absl::StatusOr<Program> Prepare(const BuildFn& build, const Options& options);

// Random inputs of the global batch by name, the same for equal seeds however many replicas share them.
TensorMap RandomInputs(const Executable& executable, int64_t rows, const Options& options, int seed);
// Rows [begin, end) of a batched tensor.
HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end);
// Deals the rows of `batch` to replicas in order, `rows[r]` for replica r; scalars are the graph's defaults, the seed,
// and `step`.
StepInputs Deal(const Program& program, const TensorMap& batch, const std::vector<int64_t>& rows, int64_t step);

// As float64.
HostTensor ToFloat64(const HostTensor& tensor);
// Largest |a - b|; infinity when shapes differ or one value is NaN.
double MaxDifference(const HostTensor& a, const HostTensor& b);
double MaxMagnitude(const HostTensor& a);

// Compiles the graph, runs `steps` steps on the test target and compares every output and every variable with the
// reference on the global batch, step by step from the same variables. Adds test failures.
void CompareWithReference(const BuildFn& build, const Options& options);
inline void CompareWithReference(const Case& c) { CompareWithReference(c.build, c.options); }

struct Trained {
  TensorMap variables;
  std::vector<HostTensor> outputs;  // of the last step
};
// Trains on random global batches of `rows` rows, which fill replicas from the front. Adds a test failure on an error,
// after which there are no variables.
Trained Train(const BuildFn& build, const Options& options, int64_t rows);
void ExpectSameBits(const Trained& a, const Trained& b);

// Trains on one device and thread and then on each of `places` (devices, threads), with `options.batch` as the global
// batch, and expects the same bits in all variables and in the outputs of the last step. One run for each of `rows`:
// those of the global batch that are there.
void ExpectSameBits(const BuildFn& build, const Options& options, const std::vector<int64_t>& rows,
                    const std::vector<std::pair<int, int>>& places);

}  // namespace tandem::compiled

#endif  // TANDEM_TESTS_COMPILED_HARNESS_H_
