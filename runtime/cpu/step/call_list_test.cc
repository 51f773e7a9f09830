// A tiny program whose commands are all listed: the same bits as section by section, for any threads and devices.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/session/session.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

constexpr int kLanes = 8, kRowsPerLane = 3, kRows = kLanes * kRowsPerLane;

// Output 0: the sum of the squares of x - w; w goes down that gradient. Output 1: the difference of each row, plus its
// number in the batch.
std::shared_ptr<const Executable> Model(int replicas) {
  ExecutableBuilder b(replicas, kLanes, kRowsPerLane, kRowsPerLane);
  const int difference = b.Kernel("difference", 0, format::Domain::kRows);
  const int square = b.Kernel("square", 0, format::Domain::kRows);
  const int sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  const int w = b.Variable("w", {1}), x = b.Input("x", {kBatch, 1}), rate = b.Scalar("learning_rate");
  const int row = b.Batch("row", {kBatch}), d = b.Batch("d", {kBatch});
  const int loss = b.Lane("loss", {1}, format::ReduceKind::kSum), dw = b.Lane("dw", {1}, format::ReduceKind::kSum);
  const int loss_sum = b.Step("loss_sum", {1}), dw_sum = b.Step("dw_sum", {1}), copy = b.Step("copy", {1});
  b.Map();
  b.Launch("difference", difference, {x, w}, {d, row});
  b.Launch("square", square, {d}, {loss, dw});
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {loss, dw}, {loss_sum, dw_sum});
  b.AllReduce(format::ReduceKind::kSum, {loss_sum, dw_sum});
  b.CheckFinite({loss_sum, dw_sum});
  b.Copy(loss_sum, copy);
  b.Grouped("update", sgd, 3, {w, dw_sum, rate}, {1});
  b.Output("loss", copy);
  b.Output("row", row);
  const std::string object = CompileIr(LoopKernel("difference", "4 0 4 4", R"(
  %x = load float, ptr %p0, align 4
  %w = load float, ptr %p1, align 4
  %d = fsub float %x, %w
  store float %d, ptr %p2, align 4
  %g = add i64 %i, %row_offset
  %f = sitofp i64 %g to float
  %n = fadd float %d, %f
  store float %n, ptr %p3, align 4
)") + LoopKernel("square", "4 0 0", R"(
  %first = icmp eq i64 %i, %begin
  %d = load float, ptr %p0, align 4
  %l0 = load float, ptr %p1, align 4
  %g0 = load float, ptr %p2, align 4
  %l1 = select i1 %first, float 0.0, float %l0
  %g1 = select i1 %first, float 0.0, float %g0
  %q = fmul float %d, %d
  %l2 = fadd float %l1, %q
  %g2 = fadd float %g1, %d
  store float %l2, ptr %p1, align 4
  store float %g2, ptr %p2, align 4
)") + LoopKernel("sgd", "4 4 0", R"(
  %w = load float, ptr %p0, align 4
  %g = load float, ptr %p1, align 4
  %rate = load float, ptr %p2, align 4
  %s = fmul float %rate, %g
  %n = fadd float %w, %s
  store float %n, ptr %p0, align 4
)"));
  auto e = Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "kernels", object}}));
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

struct Job {
  std::shared_ptr<VariableStore> variables;
  std::unique_ptr<Session> session;
  // The step's fetches and, at the end, w.
  std::vector<HostTensor> Step(const std::vector<HostTensor>& x, bool* finite) {
    StepInputs inputs;
    for (const HostTensor& t : x) inputs.inputs.push_back({t});
    inputs.scalars["learning_rate"] = 0.01;
    auto result = session->Run(inputs, {0, 1});
    EXPECT_TRUE(result.ok()) << result.status();
    *finite = result->finite;
    std::vector<HostTensor> values = result->finite ? result->outputs : std::vector<HostTensor>();
    values.push_back(*variables->Read("w"));
    return values;
  }
};

// `listed`: as users run it; else with a clock around each command, which goes section by section.
Job Start(int replicas, int threads, bool listed) {
  Job job;
  job.variables = std::make_shared<VariableStore>(replicas);
  auto session = Session::Create(CpuDeviceClass(), Model(replicas), job.variables,
                                 {.pool = std::make_shared<ThreadPool>(threads), .time_commands = !listed});
  EXPECT_TRUE(session.ok()) << session.status();
  job.session = *std::move(session);
  EXPECT_TRUE(job.variables->Assign("w", HostTensor::FromVector<float>({1}, {0.5f})).ok());
  return job;
}

// Rows [begin, begin + n) of batch `seed`.
HostTensor Rows(uint32_t seed, int begin, int n) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kRows);
  for (float& v : values) v = normal(random);
  return HostTensor::FromVector<float>({n, 1}, std::vector<float>(values.begin() + begin, values.begin() + begin + n));
}

std::vector<HostTensor> Batch(uint32_t seed, int replicas) {
  std::vector<HostTensor> x;
  for (int r = 0; r < replicas; ++r) x.push_back(Rows(seed, r * kRows / replicas, kRows / replicas));
  return x;
}

void ExpectEqual(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].BitEqual(b[i])) << "value " << i;
}

TEST(CallListTest, SameBitsAsSectionBySection) {
  for (int replicas : {1, 2, 4}) {
    for (int threads : {1, 2}) {
      SCOPED_TRACE(testing::Message() << replicas << " replicas, " << threads << " threads");
      Job listed = Start(replicas, threads, true), sections = Start(1, 1, false);
      for (uint32_t step = 0; step < 5; ++step) {
        bool finite = false, finite_too = false;
        const std::vector<HostTensor> got = listed.Step(Batch(step, replicas), &finite);
        ExpectEqual(got, sections.Step(Batch(step, 1), &finite_too));
        EXPECT_TRUE(finite && finite_too);
      }
    }
  }
}

TEST(CallListTest, AShortBatchBetweenFullOnes) {
  Job listed = Start(1, 1, true), sections = Start(1, 1, false);
  bool finite = false;
  for (int rows : {kRows, kRows - 1, 1, kRows, 0, kRows}) {
    const std::vector<HostTensor> x = {Rows(7, 0, rows)};
    ExpectEqual(listed.Step(x, &finite), sections.Step(x, &finite));
  }
}

TEST(CallListTest, AStepThatIsNotFiniteChangesNothing) {
  Job job = Start(1, 1, true);
  std::vector<HostTensor> x = Batch(1, 1);
  x[0].data<float>()[5] = std::numeric_limits<float>::infinity();
  bool finite = true;
  std::vector<HostTensor> values = job.Step(x, &finite);
  EXPECT_FALSE(finite);
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(*values[0].data<float>(), 0.5f);
  EXPECT_EQ(job.Step(Batch(1, 1), &finite).size(), 3u);
  EXPECT_TRUE(finite);
}

}  // namespace
}  // namespace tandem
