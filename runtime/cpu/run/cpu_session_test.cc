#include <cmath>
#include <map>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/executable/command_info.h"
#include "runtime/session/session.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

constexpr int kIn = 6, kOut = 4, kLanes = 8, kRowsPerLane = 5, kMicrobatchRows = 2, kRows = kLanes * kRowsPerLane;

// dy = y - t, four columns per row.
const char kDifference[] = R"(
  %y = load <4 x float>, ptr %p0, align 4
  %t = load <4 x float>, ptr %p1, align 4
  %d = fsub <4 x float> %y, %t
  store <4 x float> %d, ptr %p2, align 4
)";
// The number of the row in the global batch.
const char kRowNumber[] = R"(
  %g = add i64 %i, %row_offset
  %f = sitofp i64 %g to float
  store float %f, ptr %p0, align 4
)";
// Count, sum, sum of squares and maximum of the first column of x.
const char kStatistics[] = R"(
  %first = icmp eq i64 %i, %begin
  %x = load float, ptr %p0, align 4
  %c0 = load float, ptr %p1, align 4
  %sum0 = load float, ptr %p2, align 4
  %squares0 = load float, ptr %p3, align 4
  %max0 = load float, ptr %p4, align 4
  %c1 = select i1 %first, float 0.0, float %c0
  %sum1 = select i1 %first, float 0.0, float %sum0
  %squares1 = select i1 %first, float 0.0, float %squares0
  %max1 = select i1 %first, float %x, float %max0
  %c2 = fadd float %c1, 1.0
  %sum2 = fadd float %sum1, %x
  %square = fmul float %x, %x
  %squares2 = fadd float %squares1, %square
  %gt = fcmp ogt float %x, %max1
  %max2 = select i1 %gt, float %x, float %max1
  store float %c2, ptr %p1, align 4
  store float %sum2, ptr %p2, align 4
  store float %squares2, ptr %p3, align 4
  store float %max2, ptr %p4, align 4
)";
// w -= rate * g / count
const char kSgd[] = R"(
  %w = load float, ptr %p0, align 4
  %g = load float, ptr %p1, align 4
  %rate = load float, ptr %p2, align 4
  %count = load float, ptr %p3, align 4
  %s = fmul float %rate, %g
  %t = fdiv float %s, %count
  %n = fsub float %w, %t
  store float %n, ptr %p0, align 4
)";

enum Output { kLoss, kPrediction, kRow, kCount, kSum, kSquares, kMax, kGradient, kNumOutputs };

// A linear model with squared error: packed forward product, gradients summed over microbatches, lanes and replicas, a
// check, and an update; beside it statistics of the input.
std::shared_ptr<const Executable> Model(int replicas) {
  ExecutableBuilder b(replicas, kLanes, kRowsPerLane, kMicrobatchRows);
  int difference = b.Kernel("difference", 0, format::Domain::kRows);
  int row_number = b.Kernel("row_number", 0, format::Domain::kRows);
  int statistics = b.Kernel("statistics", 0, format::Domain::kRows);
  int sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  int w = b.Variable("w", {kIn, kOut});
  int bias = b.Variable("bias", {kOut});
  int x = b.Input("x", {kBatch, kIn}), t = b.Input("t", {kBatch, kOut});
  int rate = b.Scalar("learning_rate"), count = b.Scalar("example_count");

  const format::LibraryCall product = CallOf(MatMulOf(kMicrobatchRows, kIn, kOut));
  int packed = b.Step("packed", {static_cast<int64_t>(*PackedWeightsBytes(product) / 4)});
  int y = b.Batch("y", {kBatch, kOut}), row = b.Batch("row", {kBatch}), dy = b.Microbatch("dy", {kBatch, kOut});
  int ones = b.Constant("ones", 0, {kMicrobatchRows});
  int dw = b.Lane("dw", {kIn, kOut}, format::ReduceKind::kSum), db = b.Lane("db", {kOut}, format::ReduceKind::kSum);
  int loss = b.Lane("loss", {kOut, kOut}, format::ReduceKind::kSum);
  int lane_count = b.Lane("lane_count", {}, format::ReduceKind::kSum),
      lane_sum = b.Lane("lane_sum", {1}, format::ReduceKind::kSum);
  int lane_squares = b.Lane("lane_squares", {1}, format::ReduceKind::kSum);
  int max = b.Lane("max", {1}, format::ReduceKind::kMax);
  int dw_sum = b.Step("dw_sum", {kIn, kOut}), db_sum = b.Step("db_sum", {kOut}),
      loss_sum = b.Step("loss_sum", {kOut, kOut});
  int c = b.Step("count", {}), sum = b.Step("sum", {1}), squares = b.Step("squares", {1}),
      max_all = b.Step("max_all", {1});
  (void)ones;

  b.Global();
  b.PackMatMul("pack", w, packed, {kIn, kOut}, kMicrobatchRows);
  b.Map();
  b.MatMul("forward", x, packed, y, {.bias = true}, bias, /*packed=*/true);
  b.Launch("difference", difference, {y, t}, {dy});
  b.Launch("row_number", row_number, {}, {row});
  b.Launch("statistics", statistics, {x}, {lane_count, lane_sum, lane_squares, max});
  b.MatMulWeightGrad("weight_gradient", x, dy, dw);
  b.MatMulWeightGrad("loss", dy, dy, loss);
  b.Launch("bias_gradient", b.Kernel("column_sum", 0, format::Domain::kRows), {dy}, {db});
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {dw, db, loss}, {dw_sum, db_sum, loss_sum});
  b.LaneReduce(format::ReduceKind::kSum, {lane_count, lane_sum, lane_squares}, {c, sum, squares});
  b.LaneReduce(format::ReduceKind::kMax, {max}, {max_all});
  b.AllReduce(format::ReduceKind::kSum, {dw_sum, db_sum, loss_sum});
  b.AllReduce(format::ReduceKind::kSum, {c, sum, squares});
  b.AllReduce(format::ReduceKind::kMax, {max_all});
  b.CheckFinite({dw_sum, db_sum, loss_sum});
  b.Grouped("update", sgd, 4, {w, dw_sum, rate, count, bias, db_sum, rate, count}, {kIn * kOut, kOut});
  for (int o : {loss_sum, y, row, c, sum, squares, max_all, dw_sum}) b.Output(absl::StrCat("output_", o), o);

  const char kColumnSum[] = R"(
  %first = icmp eq i64 %i, %begin
  %d = load <4 x float>, ptr %p0, align 4
  %v0 = load <4 x float>, ptr %p1, align 4
  %v1 = select i1 %first, <4 x float> zeroinitializer, <4 x float> %v0
  %v2 = fadd <4 x float> %v1, %d
  store <4 x float> %v2, ptr %p1, align 4
)";
  std::string object =
      CompileIr(LoopKernel("difference", "16 16 16", kDifference) + LoopKernel("row_number", "4", kRowNumber) +
                LoopKernel("statistics", absl::StrCat(kIn * 4, " 0 0 0 0"), kStatistics) +
                LoopKernel("sgd", "4 4 0 0", kSgd) + LoopKernel("column_sum", "16 0", kColumnSum));
  auto e = Executable::Parse(
      BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "kernels", object},
                                 {format::SegmentKind::kConstants, "constants", std::string(64, 0)}}));
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

HostTensor Random(Shape shape, uint32_t seed) {
  HostTensor t(DType::kFloat32, std::move(shape));
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = normal(rng);
  return t;
}

HostTensor Rows(const HostTensor& t, int64_t begin, int64_t n) {
  Shape shape = t.shape();
  shape[0] = n;
  HostTensor part(t.dtype(), shape);
  int64_t row = t.byte_size() / t.shape()[0];
  std::memcpy(part.raw(), static_cast<const char*>(t.raw()) + begin * row, n * row);
  return part;
}

struct Job {
  std::shared_ptr<VariableStore> variables;
  std::unique_ptr<Session> session;
};

Job Start(int replicas, int threads) {
  Job run;
  run.variables = std::make_shared<VariableStore>(replicas);
  auto session =
      Session::Create(CpuDeviceClass(), Model(replicas), run.variables, {std::make_shared<ThreadPool>(threads)});
  EXPECT_TRUE(session.ok()) << session.status();
  run.session = *std::move(session);
  EXPECT_TRUE(run.variables->Assign("w", Random({kIn, kOut}, 1)).ok());
  EXPECT_TRUE(run.variables->Assign("bias", Random({kOut}, 2)).ok());
  return run;
}

// Deals `rows` out: row r goes to the replica that owns it when the batch is full.
StepInputs Inputs(int replicas, const std::vector<int64_t>& rows, uint32_t seed) {
  HostTensor x = Random({kRows, kIn}, seed), t = Random({kRows, kOut}, seed + 1);
  StepInputs inputs;
  for (int r = 0; r < replicas; ++r) {
    int64_t begin = r * (kRows / replicas);
    inputs.inputs.push_back({Rows(x, begin, rows[r]), Rows(t, begin, rows[r])});
  }
  inputs.scalars["learning_rate"] = 0.1;
  return inputs;
}

std::vector<int> AllOutputs() {
  std::vector<int> all;
  for (int i = 0; i < kNumOutputs; ++i) all.push_back(i);
  return all;
}

TEST(CpuSessionTest, SameBitsForAnyThreadsAndDevices) {
  std::vector<HostTensor> want;
  for (int replicas : {1, 2, 4}) {
    for (int threads : {1, 2, 3, 13}) {  // with more threads than lanes some help with microbatches of others' lanes
      Job run = Start(replicas, threads);
      std::vector<HostTensor> got;
      for (int step = 0; step < 4; ++step) {
        auto result = run.session->Run(Inputs(replicas, std::vector<int64_t>(replicas, kRows / replicas), 10 + step),
                                       AllOutputs());
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_TRUE(result->finite);
        EXPECT_EQ(result->examples, kRows);
        for (HostTensor& t : result->outputs) got.push_back(t);
      }
      got.push_back(*run.variables->Read("w"));
      got.push_back(*run.variables->Read("bias"));
      for (int d = 1; d < replicas; ++d) {
        EXPECT_EQ(std::memcmp(run.variables->Buffer("w", d), run.variables->Buffer("w", 0), kIn * kOut * 4), 0);
      }
      if (want.empty()) want = got;
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(got[i].BitEqual(want[i]))
            << "value " << i << ", " << replicas << " replicas, " << threads << " threads";
      }
    }
  }
}

TEST(CpuSessionTest, CountsTheTimeOfEachCommand) {
  EXPECT_TRUE(Start(2, 2).session->command_times().empty());
  auto variables = std::make_shared<VariableStore>(2);
  auto session = Session::Create(CpuDeviceClass(), Model(2), variables,
                                 {.pool = std::make_shared<ThreadPool>(2), .time_commands = true});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(variables->Assign("w", Random({kIn, kOut}, 1)).ok());
  ASSERT_TRUE(variables->Assign("bias", Random({kOut}, 2)).ok());
  ASSERT_TRUE((*session)->command_times().empty());  // nothing has run
  for (int run = 0; run < 3; ++run) ASSERT_TRUE((*session)->Run(Inputs(2, {kRows / 2, kRows / 2}, 10), {}).ok());
  const int64_t lanes = kLanes, microbatches = lanes * ((kRowsPerLane + kMicrobatchRows - 1) / kMicrobatchRows);
  std::map<std::string, CommandTime> times;
  for (const CommandTime& time : (*session)->command_times()) times[time.name.empty() ? time.kind : time.name] = time;
  EXPECT_EQ(times["forward"].calls, 3 * microbatches);
  EXPECT_EQ(times["forward"].section, "map");
  EXPECT_EQ(times["forward"].kind, "LibraryCall");
  EXPECT_EQ(times["forward"].detail.find("MatMul "), 0u);
  EXPECT_EQ(times["LaneSum"].calls, 3 * (microbatches - lanes));
  EXPECT_EQ(times["update"].calls, 3);
  EXPECT_EQ(times["update"].section, "global");
  for (const auto& [name, time] : times) EXPECT_GE(time.seconds, 0) << name;
}

// One record per microbatch and command on the thread that ran it, in order, and none when tracing has ended.
TEST(CpuSessionTest, TracesEveryExecution) {
  Job run = Start(2, 2);
  CommandTrace trace;
  run.session->set_trace(&trace);
  const int64_t before = TraceNow();
  ASSERT_TRUE(run.session->Run(Inputs(2, {kRows / 2, kRows / 2 - 1}, 10), {}).ok());
  const int64_t after = TraceNow();
  run.session->set_trace(nullptr);
  ASSERT_TRUE(run.session->Run(Inputs(2, {kRows / 2, kRows / 2}, 10), {}).ok());

  ASSERT_EQ(trace.threads.size(), 2u);
  const std::vector<CommandInfo> commands = ListCommands(*Model(2));
  std::map<std::string, int> records, rows;
  for (const std::vector<CommandRecord>& thread : trace.threads) {
    int64_t last = before;
    for (const CommandRecord& r : thread) {
      EXPECT_LE(last, r.begin);
      EXPECT_LE(r.begin, r.end);
      last = r.end;
      ASSERT_LT(r.id, commands.size());
      const CommandInfo& command = commands[r.id];
      EXPECT_EQ(command.map, r.lane >= 0) << command.name;
      EXPECT_LT(r.device, 2);
      const std::string name = command.name.empty() ? command.kind : command.name;
      ++records[name];
      rows[name] += r.rows;
    }
    EXPECT_LE(last, after);
  }
  EXPECT_EQ(rows["forward"], kRows - 1);
  // The row that is missing was alone in its microbatch.
  EXPECT_EQ(records["forward"], kLanes * ((kRowsPerLane + kMicrobatchRows - 1) / kMicrobatchRows) - 1);
  EXPECT_EQ(records["LaneSum"], records["forward"] - kLanes);
  EXPECT_GE(records["update"], 1);
  EXPECT_LE(records["update"], 2);  // at most one per thread
}

// Against double, for full and short batches, with empty replicas.
TEST(CpuSessionTest, ShortAndEmptyBatches) {
  const std::vector<std::vector<int64_t>> cases = {{40},    {23},   {1},     {5},          {20, 20},
                                                   {20, 0}, {0, 7}, {3, 11}, {10, 0, 1, 9}};
  for (const auto& rows : cases) {
    int replicas = static_cast<int>(rows.size());
    Job run = Start(replicas, 2);
    // A full step first, so that memory holds values that must not be seen afterwards.
    ASSERT_TRUE(run.session->Run(Inputs(replicas, std::vector<int64_t>(replicas, kRows / replicas), 70), {}).ok());
    HostTensor w = *run.variables->Read("w"), bias = *run.variables->Read("bias");
    StepInputs inputs = Inputs(replicas, rows, 80);
    auto result = run.session->Run(inputs, AllOutputs());
    ASSERT_TRUE(result.ok()) << result.status();

    int64_t n = 0;
    std::vector<double> prediction, row_number, gradient(kIn * kOut);
    double loss = 0, sum = 0, squares = 0, max = -1e30;
    for (int r = 0; r < replicas; ++r) {
      const float *x = inputs.inputs[r][0].data<float>(), *t = inputs.inputs[r][1].data<float>();
      for (int64_t i = 0; i < rows[r]; ++i, ++n) {
        row_number.push_back(n);
        sum += x[i * kIn], squares += double{x[i * kIn]} * x[i * kIn];
        max = std::max<double>(max, x[i * kIn]);
        for (int o = 0; o < kOut; ++o) {
          double y = bias.data<float>()[o];
          for (int k = 0; k < kIn; ++k) y += double{x[i * kIn + k]} * w.data<float>()[k * kOut + o];
          prediction.push_back(y);
          double d = y - t[i * kOut + o];
          loss += o == 0 ? d * d : 0;
          for (int k = 0; k < kIn; ++k) gradient[k * kOut + o] += d * x[i * kIn + k];
        }
      }
    }
    EXPECT_EQ(result->examples, n);
    auto near = [&](int output, const std::vector<double>& want) {
      const HostTensor& got = result->outputs[output];
      ASSERT_GE(got.num_elements(), static_cast<int64_t>(want.size()));
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_NEAR(got.data<float>()[i], want[i], 1e-4 * (1 + std::fabs(want[i])))
            << "output " << output << " of " << n;
      }
    };
    EXPECT_EQ(result->outputs[kPrediction].shape(), (Shape{n, kOut}));
    near(kLoss, {loss});
    near(kPrediction, prediction);
    near(kRow, row_number);
    near(kCount, {double(n)});
    near(kSum, {sum});
    near(kSquares, {squares});
    near(kMax, {max});
    near(kGradient, gradient);
    HostTensor updated = *run.variables->Read("w");
    for (int i = 0; i < kIn * kOut; ++i) {
      EXPECT_NEAR(updated.data<float>()[i], w.data<float>()[i] - 0.1 * gradient[i] / n, 1e-4);
    }
  }
}

TEST(CpuSessionTest, AnEmptyReplicaEqualsItsAbsence) {
  Job one = Start(1, 2), two = Start(2, 2);
  auto a = one.session->Run(Inputs(1, {20}, 5), AllOutputs()),
       b = two.session->Run(Inputs(2, {20, 0}, 5), AllOutputs());
  ASSERT_TRUE(a.ok() && b.ok());
  for (int i = 0; i < kNumOutputs; ++i) EXPECT_TRUE(a->outputs[i].BitEqual(b->outputs[i])) << i;
  EXPECT_TRUE(one.variables->Read("w")->BitEqual(*two.variables->Read("w")));
}

TEST(CpuSessionTest, NonFiniteStepChangesNothingAndIsFound) {
  Job run = Start(2, 2);
  HostTensor before = run.variables->Read("w")->Clone();
  StepInputs inputs = Inputs(2, {20, 20}, 5);
  auto fine = run.session->FindNonFinite(inputs);
  ASSERT_TRUE(fine.ok()) << fine.status();
  EXPECT_EQ(*fine, "");
  inputs.inputs[1][1].data<float>()[7 * kOut] = std::nanf("");  // a label in lane 1 of replica 1
  auto result = run.session->Run(inputs, AllOutputs());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->finite);
  EXPECT_TRUE(std::isnan(result->outputs[kLoss].data<float>()[0]));  // it is computed before the check
  auto found = run.session->FindNonFinite(inputs);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, "difference [model.cc:7], replica 1 (cpu:1), lane 5");
  EXPECT_TRUE(run.variables->Read("w")->BitEqual(before));
}

TEST(CpuSessionTest, FetchesOnlyWhatIsAsked) {
  Job run = Start(1, 1);
  auto result = run.session->Run(Inputs(1, {40}, 5), {kMax});
  ASSERT_TRUE(result.ok());
  for (int i = 0; i < kNumOutputs; ++i) EXPECT_EQ(result->outputs[i].empty(), i != kMax);
  EXPECT_GT(run.session->memory().total(), 0u);
}

void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& part) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
}

TEST(CpuSessionTest, WrongInputsAreErrors) {
  Job run = Start(1, 1);
  auto bad = [&](StepInputs inputs, const std::string& part) {
    ExpectError(run.session->Run(inputs, {}).status(), absl::StatusCode::kInvalidArgument, part);
  };
  StepInputs good = Inputs(1, {40}, 5);
  StepInputs inputs = good;
  inputs.inputs.push_back({});
  bad(inputs, "inputs for 2 replicas");
  inputs = good;
  inputs.inputs[0].pop_back();
  bad(inputs, "1 inputs");
  inputs = good;
  inputs.inputs[0][0] = HostTensor::Zeros(DType::kFloat32, {40, 5});
  bad(inputs, "'x' is float32[40,5]; the program takes float32[b,6]");
  inputs = good;
  inputs.inputs[0][1] = HostTensor::Zeros(DType::kFloat32, {39, kOut});
  bad(inputs, "39 rows; other inputs have 40");
  inputs = good;
  inputs.inputs[0][0] = HostTensor::Zeros(DType::kFloat32, {41, kIn});
  bad(inputs, "at most 40");
  inputs = good;
  inputs.scalars.clear();
  bad(inputs, "learning_rate");
  ExpectError(run.session->Run(good, {99}).status(), absl::StatusCode::kInvalidArgument, "no output 99");
}

TEST(CpuSessionTest, VariablesMustFit) {
  auto pool = std::make_shared<ThreadPool>(1);
  auto store = std::make_shared<VariableStore>(2);
  ExpectError(Session::Create(CpuDeviceClass(), Model(1), store, {pool}).status(),
              absl::StatusCode::kFailedPrecondition, "2 devices");
  store = std::make_shared<VariableStore>(1);
  ASSERT_TRUE(store->Create({"w", DType::kFloat32, {7}}).ok());
  ExpectError(Session::Create(CpuDeviceClass(), Model(1), store, {pool}).status(),
              absl::StatusCode::kFailedPrecondition, "variable w");
  store = std::make_shared<VariableStore>(1);
  auto session = Session::Create(CpuDeviceClass(), Model(1), store, {pool});
  ASSERT_TRUE(session.ok());
  ExpectError((*session)->Run(Inputs(1, {40}, 5), {}).status(), absl::StatusCode::kFailedPrecondition, "has no value");
}

}  // namespace
}  // namespace tandem
