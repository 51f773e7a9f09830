#include "tests/compiled/harness.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "base/step_scalars.h"
#include "graph/replicas.h"
#include "gtest/gtest.h"
#include "passes/analysis/machine_model.h"
#include "passes/compile/compile.h"
#include "passes/machine_code/compile_target.h"
#include "runtime/device_classes/device_classes.h"

namespace tandem::compiled {
namespace {

constexpr double kSeed = 7;

std::vector<int64_t> RowsPerReplica(const Options& options) {
  return options.rows.empty() ? std::vector<int64_t>(options.devices, options.batch) : options.rows;
}

template <typename T>
void FillAs(HostTensor* t, const std::vector<double>& values) {
  std::transform(values.begin(), values.end(), t->data<T>(), [](double v) { return static_cast<T>(v); });
}

HostTensor FromDoubles(DType dtype, Shape shape, const std::vector<double>& values) {
  HostTensor t(dtype, std::move(shape));
  switch (dtype) {
    case DType::kFloat32:
      FillAs<float>(&t, values);
      break;
    case DType::kFloat64:
      FillAs<double>(&t, values);
      break;
    case DType::kInt32:
      FillAs<int32_t>(&t, values);
      break;
    case DType::kInt64:
      FillAs<int64_t>(&t, values);
      break;
    case DType::kUInt8:
      FillAs<uint8_t>(&t, values);
      break;
    case DType::kBool:
      FillAs<bool>(&t, values);
      break;
    case DType::kBFloat16:  // never outside of a program
    case DType::kString:    // never inside of one
    case DType::kInvalid:
      break;
  }
  return t;
}

template <typename T>
void WidenAs(const HostTensor& from, HostTensor* to) {
  std::transform(from.data<T>(), from.data<T>() + from.num_elements(), to->data<double>(),
                 [](T v) { return static_cast<double>(v); });
}

void ExpectClose(const std::string& what, const HostTensor& got, const HostTensor& want, double bound) {
  if (ToFloat64(got).shape() != want.shape()) {
    ADD_FAILURE() << what << " has shape " << ShapeString(got.shape()) << ", the reference "
                  << ShapeString(want.shape());
    return;
  }
  double difference = MaxDifference(got, want);
  if (difference <= bound && std::isfinite(bound)) return;
  std::string values;
  HostTensor g = ToFloat64(got);
  for (int64_t i = 0, shown = 0; i < g.num_elements() && shown < 6; ++i) {
    double a = g.data<double>()[i], b = want.data<double>()[i];
    if (std::abs(a - b) <= bound) continue;
    absl::StrAppend(&values, " [", i, "] ", a, " != ", b);
    ++shown;
  }
  ADD_FAILURE() << what << " " << ShapeString(got.shape()) << " differs by " << difference << ", allowed " << bound
                << ":" << values;
}

// CompileOptions.machine_model for the target's machine with such a cache.
absl::StatusOr<std::string> MachineWithCache(const std::string& target, double l2_bytes) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<CompileTarget> parsed, ParseTarget(target));
  TD_ASSIGN_OR_RETURN(MachineModel model, BuiltInMachineModel(parsed->MachineModelName()));
  model.l2_bytes = l2_bytes;
  const std::string file = absl::StrCat(testing::TempDir(), "/cache_of_", l2_bytes, ".txt");
  TD_RETURN_IF_ERROR(Env::Default()->WriteFileAtomically(file, MachineModelText(model)));
  return file;
}

}  // namespace

Options OnTestTarget(Options options) {
  const char* target = std::getenv("TANDEM_TEST_TARGET");
  if (target == nullptr || options.target != Options().target) return options;
  if (!options.rows.empty()) options.rows = {std::accumulate(options.rows.begin(), options.rows.end(), int64_t{0})};
  options.batch *= std::exchange(options.devices, 1);
  options.lanes = options.microbatch_rows = 0;
  options.memory_limit = 0;
  options.cross_device_ops.clear();
  options.contractions.clear();
  options.target = target;
  options.device_kind = absl::StartsWith(target, "cuda:") ? "gpu" : "cpu";
  return options;
}

TensorMap Program::Values() const {
  TensorMap values;
  for (const VariableInfo& info : variables->List()) values[info.name] = variables->Read(info.name).value();
  return values;
}

absl::StatusOr<StepResult> Program::Run(const StepInputs& inputs) {
  std::vector<int> fetches(executable->index().outputs.size());
  std::iota(fetches.begin(), fetches.end(), 0);
  return session->Run(inputs, fetches);
}

std::string MachineForBFloat16(const std::string& target) {
  absl::StatusOr<std::unique_ptr<CompileTarget>> parsed = ParseTarget(target);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok() || (*parsed)->MachineModelName() != "generic-avx512") return "";
  MachineModel model = BuiltInMachineModel("generic-avx512").value();
  model.library_bf16 = 2 * model.library_f32;
  model.vector_bf16 = 2 * model.vector_f32;
  const std::string file = absl::StrCat(testing::TempDir(), "/fast_bfloat16.txt");
  EXPECT_TRUE(Env::Default()->WriteFileAtomically(file, MachineModelText(model)).ok());
  return file;
}

absl::StatusOr<Program> Prepare(const BuildFn& build, const Options& options) {
  Program p;
  p.graph = std::make_unique<GraphBuilder>("test");
  SetReplicas(*p.graph, {.all = options.devices, .processes = options.processes});
  build(*p.graph);
  CompileOptions compile;
  compile.devices.clear();
  for (int d = 0; d < options.devices; ++d) compile.devices.push_back(absl::StrCat(options.device_kind, ":", d));
  compile.batch_per_replica = options.batch;
  compile.lanes = options.lanes;
  compile.microbatch_rows = options.microbatch_rows;
  compile.memory_limit = options.memory_limit;
  compile.precision = options.precision;
  compile.part = options.part;
  compile.cross_device_ops = options.cross_device_ops;
  compile.communication_dtype = options.communication_dtype;
  compile.target = options.target;
  compile.contractions = options.contractions;
  if (options.precision == Precision::kMixedBfloat16) compile.machine_model = MachineForBFloat16(options.target);
  if (options.l2_bytes > 0) {
    TD_ASSIGN_OR_RETURN(compile.machine_model, MachineWithCache(options.target, options.l2_bytes));
  }
  compile.kernel_cache_dir = options.kernel_cache_dir;
  if (compile.kernel_cache_dir.empty()) compile.kernel_cache_dir = absl::StrCat(testing::TempDir(), "/kernels");
  TD_ASSIGN_OR_RETURN(p.executable, CompileGraph(*p.graph, options.mode, compile));
  p.variables = std::make_shared<VariableStore>(options.devices);
  TD_ASSIGN_OR_RETURN(p.session,
                      CreateSession(p.executable, p.variables, {std::make_shared<ThreadPool>(options.threads)}));
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-0.1, 0.1);
  for (const auto& v : p.executable->index().variables) {
    TD_RETURN_IF_ERROR(p.variables->Initialize(v.name, v.initializer, kSeed));
    if (v.initializer.kind != 0 || !v.slot_of.empty() || v.dtype != DType::kFloat32) continue;
    std::vector<double> values(NumElements(v.shape));
    for (double& value : values) value = uniform(random);
    TD_RETURN_IF_ERROR(p.variables->Assign(v.name, FromDoubles(DType::kFloat32, v.shape, values)));
  }
  return p;
}

TensorMap RandomInputs(const Executable& executable, int64_t rows, const Options& options, int seed) {
  TensorMap batch;
  for (const auto& input : executable.index().inputs) {
    // Keyed by name: independent of the order of inputs and of the number of rows before.
    std::seed_seq key(input.name.begin(), input.name.end());
    std::mt19937 random(key);
    random.discard(1000003ull * seed);
    Shape shape(input.shape.begin(), input.shape.end());
    shape[0] = rows;
    DType dtype = input.dtype;
    bool real = dtype == DType::kFloat32 || dtype == DType::kFloat64;
    auto given = options.ranges.find(input.name);
    std::pair<double, double> range = given != options.ranges.end() ? given->second
                                      : real                        ? std::pair(-1.0, 1.0)
                                      : dtype == DType::kBool       ? std::pair(0.0, 2.0)
                                                                    : std::pair(0.0, 4.0);
    std::uniform_real_distribution<double> uniform(range.first, range.second);
    std::vector<double> values(NumElements(shape));
    for (double& v : values) v = real ? uniform(random) : std::floor(uniform(random));
    batch[input.name] = FromDoubles(dtype, shape, values);
  }
  return batch;
}

HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end) {
  Shape shape = tensor.shape();
  int64_t row_bytes = shape[0] == 0 ? 0 : tensor.byte_size() / shape[0];
  shape[0] = end - begin;
  HostTensor rows(tensor.dtype(), shape);
  if (rows.byte_size() > 0) {
    std::memcpy(rows.raw(), static_cast<const uint8_t*>(tensor.raw()) + begin * row_bytes, rows.byte_size());
  }
  return rows;
}

StepInputs Deal(const Program& program, const TensorMap& batch, const std::vector<int64_t>& rows, int64_t step) {
  StepInputs inputs;
  int64_t begin = 0;
  for (int64_t n : rows) {
    inputs.inputs.emplace_back();
    for (const auto& input : program.executable->index().inputs) {
      inputs.inputs.back().push_back(Rows(batch.at(input.name), begin, begin + n));
    }
    begin += n;
  }
  for (const auto& [name, value] : program.graph->scalar_defaults()) inputs.scalars[name] = value;
  // The reference sets these too.
  std::erase_if(inputs.scalars, [](const auto& scalar) { return IsSetBySession(scalar.first); });
  inputs.scalars["seed"] = kSeed;
  inputs.scalars["global_step"] = step;
  return inputs;
}

HostTensor ToFloat64(const HostTensor& tensor) {
  HostTensor wide(DType::kFloat64, tensor.shape());
  switch (tensor.dtype()) {
    case DType::kFloat32:
      WidenAs<float>(tensor, &wide);
      break;
    case DType::kFloat64:
      WidenAs<double>(tensor, &wide);
      break;
    case DType::kInt32:
      WidenAs<int32_t>(tensor, &wide);
      break;
    case DType::kInt64:
      WidenAs<int64_t>(tensor, &wide);
      break;
    case DType::kUInt8:
      WidenAs<uint8_t>(tensor, &wide);
      break;
    case DType::kBool:
      WidenAs<bool>(tensor, &wide);
      break;
    case DType::kBFloat16:  // never outside of a program
    case DType::kString:    // never inside of one
    case DType::kInvalid:
      break;
  }
  return wide;
}

double MaxDifference(const HostTensor& a, const HostTensor& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<double>::infinity();
  HostTensor x = ToFloat64(a), y = ToFloat64(b);
  double largest = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    double difference = std::abs(x.data<double>()[i] - y.data<double>()[i]);
    if (!(difference <= largest)) largest = difference;  // takes a NaN
    if (std::isnan(largest)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

double MaxMagnitude(const HostTensor& a) {
  HostTensor x = ToFloat64(a);
  double largest = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) largest = std::max(largest, std::abs(x.data<double>()[i]));
  return largest;
}

void CompareWithReference(const BuildFn& build, const Options& given) {
  const Options options = OnTestTarget(given);
  absl::StatusOr<Program> program = Prepare(build, options);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<int64_t> rows = RowsPerReplica(options);
  const int64_t total = std::accumulate(rows.begin(), rows.end(), int64_t{0});
  for (int step = 0; step < options.steps; ++step) {
    SCOPED_TRACE(absl::StrCat("step ", step));
    TensorMap batch = RandomInputs(*program->executable, total, options, step);
    TensorMap before = program->Values();
    StepInputs inputs = Deal(*program, batch, rows, step);
    TensorMap scalars;
    for (const auto& [name, value] : inputs.scalars) scalars[name] = HostTensor::Scalar<double>(value);
    TensorMap declared = before;  // and what nothing uses
    for (const VariableSpec& v : program->graph->variables()) {
      declared.emplace(v.name, HostTensor::Zeros(v.dtype, v.shape));
    }
    absl::StatusOr<TensorMap> want = Evaluate(*program->graph, batch, declared, scalars);
    ASSERT_TRUE(want.ok()) << want.status();
    absl::StatusOr<StepResult> got = program->Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(got->finite) << program->session->FindNonFinite(inputs).value_or("?");
    if (!batch.empty()) {
      EXPECT_EQ(got->examples, total);
    }

    size_t outputs = 0;
    for (size_t i = 0; i < got->outputs.size(); ++i) {
      const std::string& name = program->executable->index().outputs[i].name;
      ASSERT_TRUE(want->count(name)) << name;
      ++outputs;
      const HostTensor& w = want->at(name);
      // Exact for what counts or chooses; a sum of terms that cancel is allowed an error of some units.
      ExpectClose("output " + name, got->outputs[i], w, options.tolerance * std::max(MaxMagnitude(w), 1e-3));
    }
    // The largest change of any variable: a bias in front of a batch normalisation changes by rounding errors of it
    // only.
    double change = 0;
    for (const auto& [name, old] : before) {
      auto updated = want->find(name);
      if (updated != want->end()) change = std::max(change, MaxDifference(updated->second, ToFloat64(old)));
    }
    for (const auto& [name, after] : program->Values()) {
      const HostTensor& old = before.at(name);
      auto updated = want->find(name);
      for (int d = 1; d < options.devices; ++d) {
        EXPECT_EQ(
            std::memcmp(program->variables->Buffer(name, 0), program->variables->Buffer(name, d), after.byte_size()), 0)
            << name << " differs on device " << d;
      }
      if (updated == want->end()) {
        EXPECT_TRUE(after.BitEqual(old)) << "variable " << name << " has changed";
        continue;
      }
      ++outputs;
      const HostTensor& w = updated->second;
      ExpectClose(
          "variable " + name, after, w,
          options.tolerance * std::max(MaxDifference(w, ToFloat64(old)), change / 100) + 3e-7 * MaxMagnitude(w));
    }
    EXPECT_EQ(outputs, want->size());
  }
}

Trained Train(const BuildFn& build, const Options& options, int64_t rows) {
  Trained trained;
  absl::StatusOr<Program> program = Prepare(build, options);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return trained;
  std::vector<int64_t> dealt;
  for (int64_t left = rows; dealt.size() < static_cast<size_t>(options.devices); left -= dealt.back()) {
    dealt.push_back(std::min(left, options.batch));
  }
  for (int step = 0; step < options.steps; ++step) {
    const TensorMap batch = RandomInputs(*program->executable, rows, options, step);
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, dealt, step));
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return trained;
    trained.outputs = result->outputs;
  }
  trained.variables = program->Values();
  return trained;
}

void ExpectSameBits(const Trained& a, const Trained& b) {
  ASSERT_FALSE(a.variables.empty());
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (const auto& [name, value] : a.variables) {
    EXPECT_TRUE(value.BitEqual(b.variables.at(name))) << name << " by " << MaxDifference(value, b.variables.at(name));
  }
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) EXPECT_TRUE(a.outputs[i].BitEqual(b.outputs[i])) << "output " << i;
}

void ExpectSameBits(const BuildFn& build, const Options& options, const std::vector<int64_t>& rows,
                    const std::vector<std::pair<int, int>>& places) {
  auto train = [&](int devices, int threads, int64_t n) {
    Options here = options;
    here.devices = devices;
    here.batch /= devices;
    here.threads = threads;
    return Train(build, here, n);
  };
  for (int64_t n : rows) {
    const Trained one = train(1, 1, n);
    for (auto [devices, threads] : places) {
      SCOPED_TRACE(absl::StrCat(n, " rows, ", devices, " devices, ", threads, " threads"));
      ExpectSameBits(one, train(devices, threads, n));
    }
  }
}

}  // namespace tandem::compiled
