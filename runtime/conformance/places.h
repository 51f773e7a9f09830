// Places: the devices on which conformance tests run hand-made programs, namely the CPU, GPUs of the fake driver, and
// the real GPUs of this machine, if there are any.
#ifndef TANDEM_RUNTIME_CONFORMANCE_PLACES_H_
#define TANDEM_RUNTIME_CONFORMANCE_PLACES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {

inline constexpr int kRows = 12;  // rows of all replicas together

struct Place {
  std::string kind;  // "cpu", "fake" (GPUs of the fake driver) or "gpu"
  int replicas = 1;
  bool shared = false;  // true if all replicas are on gpu:0
};

// TANDEM_TEST_REQUIRE_GPU=1: cases of real GPUs fail where there is none that works, instead of being left out.
bool GpuIsRequired();

// Returns the number of GPUs of this machine, or of the fake driver that exists now; an error if there is none.
absl::StatusOr<int> CountGpus();

std::string PlaceName(const ::testing::TestParamInfo<Place>& info);
std::vector<Place> Places();

struct FakeGpu;

class PlaceTest : public ::testing::TestWithParam<Place> {
 protected:
  PlaceTest();
  ~PlaceTest() override;
  void SetUp() override;
  void TearDown() override;

  bool cpu() const { return GetParam().kind == "cpu"; }
  int replicas() const { return GetParam().replicas; }

  // Returns a builder for this place. On a CPU a replica has two lanes of two microbatches each, and the last
  // microbatch is short.
  ExecutableBuilder Builder() const;
  // Starts a session with the builder's program and the kernels of conformance_kernels.h.
  void Start(ExecutableBuilder& b);

  std::unique_ptr<FakeGpu> fake_;
  std::shared_ptr<VariableStore> variables_;
  std::unique_ptr<Session> session_;
};

// Returns numbers between -1 and 1.
HostTensor Random(Shape shape, uint32_t seed);
std::vector<double> Doubles(const HostTensor& t);
void ExpectNear(const HostTensor& got, const std::vector<double>& want, const std::string& what);

// Returns the numbers of rows of all replicas, for several steps. The last replica has all of its rows, one, or none.
std::vector<std::vector<int64_t>> RowCases(int replicas);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CONFORMANCE_PLACES_H_
