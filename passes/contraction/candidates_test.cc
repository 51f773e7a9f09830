#include "passes/contraction/candidate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/device_classes/device_classes.h"
#include "runtime/library_calls/library_algorithm.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

using A = format::Algorithm;

format::LibraryCall Product(int64_t rows, int64_t depth, int64_t columns, bool transposed) {
  return CallOf(MatMulOf(rows, depth, columns, /*transpose_a=*/false, transposed));
}

// `images` of `width` x `width` pixels to as many that a kernel of `taps` x `taps` leaves.
format::LibraryCall FilterGrad(int images, int width, int in, int taps, int out, int stride = 1) {
  format::Conv2D conv = Conv(images, width, width, in, taps, taps, out, stride, 0, 0);
  conv.direction = format::Direction::kFilterGrad;
  return CallOf(std::move(conv));
}

MachineModel Machine(const char* name) { return *BuiltInMachineModel(name); }

CallContext On(const MachineModel& machine, bool avx512 = true) { return {machine, avx512, **KernelLibraryOf("cpu")}; }

A Best(const format::LibraryCall& call, const CallContext& context) {
  return Taken(WeighCall(call, context)).candidate->algorithm;
}

A ChooseFor(const char* machine, const format::LibraryCall& call) { return Best(call, On(Machine(machine))); }

TEST(CallCandidatesTest, UnpackedProductsAreOfLargeMatricesAndFewRows) {
  const auto choose = [](int64_t rows, int64_t depth, int64_t columns, bool transposed) {
    return ChooseFor("sapphirerapids", Product(rows, depth, columns, transposed));
  };
  EXPECT_EQ(choose(32, 1024, 1024, false), A::kUnpackedGemm);
  EXPECT_EQ(choose(32, 784, 1024, false), A::kUnpackedGemm);
  EXPECT_EQ(choose(8, 512, 3137, true), A::kUnpackedGemm);
  EXPECT_EQ(choose(8, 128, 2704, true), A::kLibrary);      // short sums
  EXPECT_EQ(choose(8, 576, 64, false), A::kLibrary);       // in the second-level cache
  EXPECT_EQ(choose(512, 1024, 1024, false), A::kLibrary);  // many rows for one packing
  EXPECT_EQ(choose(32, 1024, 1000, false), A::kLibrary);   // half a vector
  EXPECT_EQ(choose(32, 1000, 1024, true), A::kLibrary);
  format::LibraryCall call = Product(32, 1024, 1024, false);
  SetPacked(call, true);
  EXPECT_EQ(ChooseFor("sapphirerapids", call), A::kLibrary);
  SetPacked(call, false);
  call.operation.As<format::MatMul>()->a_dtype = call.operation.As<format::MatMul>()->b_dtype = DType::kBFloat16;
  EXPECT_EQ(ChooseFor("sapphirerapids", call), A::kLibrary);
}

TEST(CallCandidatesTest, DirectFilterGradsAreOfSmallImages) {
  EXPECT_EQ(ChooseFor("sapphirerapids", FilterGrad(8, 5, 64, 3, 64)), A::kDirectFilterGrad);
  EXPECT_EQ(ChooseFor("sapphirerapids", FilterGrad(8, 5, 64, 3, 48)), A::kLibrary);  // no whole tiles
  EXPECT_EQ(ChooseFor("sapphirerapids", FilterGrad(1, 5, 64, 3, 64)), A::kLibrary);  // short sums
  EXPECT_EQ(ChooseFor("sapphirerapids", FilterGrad(8, 5, 8, 3, 64)), A::kLibrary);   // few channels
}

TEST(CallCandidatesTest, TheMachineModelSaysHowWideTheirImagesAre) {
  for (const format::LibraryCall& call : {FilterGrad(8, 5, 512, 3, 512), FilterGrad(8, 30, 32, 3, 64)}) {
    EXPECT_EQ(ChooseFor("sapphirerapids", call), A::kLibrary);
    EXPECT_EQ(ChooseFor("generic-avx512", call), A::kLibrary);
    EXPECT_EQ(ChooseFor("zen4", call), A::kDirectFilterGrad);
  }
}

TEST(CallCandidatesTest, FilterGradsOf1x1ConvolutionsAreProducts) {
  EXPECT_EQ(ChooseFor("zen4", FilterGrad(2, 14, 256, 1, 1024)), A::kPointwiseProduct);
  EXPECT_EQ(ChooseFor("zen4", FilterGrad(2, 14, 256, 1, 64)), A::kLibrary);
  EXPECT_EQ(ChooseFor("zen4", FilterGrad(2, 14, 256, 1, 1024, 2)), A::kDensePointwise);
  EXPECT_EQ(ChooseFor("zen4", FilterGrad(2, 14, 256, 1, 64, 2)), A::kLibrary);
  format::LibraryCall call = FilterGrad(2, 14, 256, 1, 64, 2);
  call.operation.As<format::Conv2D>()->direction = format::Direction::kInputGrad;
  EXPECT_EQ(ChooseFor("zen4", call), A::kDensePointwise);
}

TEST(CallCandidatesTest, AllButOneSayWhyTheyAreNotTaken) {
  const MachineModel zen4 = Machine("zen4");
  const std::vector<Verdict> product = WeighCall(Product(512, 1024, 1024, false), On(zen4));
  ASSERT_EQ(product.size(), 2u);
  EXPECT_EQ(product[0].candidate->algorithm, A::kUnpackedGemm);
  EXPECT_EQ(product[0].weighing.why_not, "512 rows are not between 4 and 64");
  EXPECT_EQ(product[1].candidate->algorithm, A::kLibrary);
  EXPECT_EQ(product[1].weighing.why_not, "");
  const std::vector<Verdict> gradient = WeighCall(FilterGrad(2, 14, 256, 1, 1024), On(zen4));
  ASSERT_EQ(gradient.size(), 3u);
  EXPECT_EQ(gradient[0].weighing.why_not, "a 1x1 kernel has one tap");
  EXPECT_EQ(gradient[1].candidate->algorithm, A::kPointwiseProduct);
  EXPECT_EQ(gradient[1].weighing.why_not, "");
  EXPECT_EQ(WhyNot(gradient[2], "pointwise_product"), "pointwise_product is taken");
}

TEST(CallCandidatesTest, WithoutAvx512OnlyTheLibraryMultiplies) {
  const MachineModel machine = Machine("generic-avx2");
  EXPECT_EQ(Best(Product(32, 1024, 1024, false), On(machine, /*avx512=*/false)), A::kLibrary);
  EXPECT_EQ(Best(FilterGrad(8, 5, 64, 3, 64), On(machine, /*avx512=*/false)), A::kLibrary);
  EXPECT_EQ(Best(FilterGrad(2, 14, 256, 1, 1024), On(machine, /*avx512=*/false)), A::kPointwiseProduct);
}

TEST(CallCandidatesTest, EveryAlgorithmHasARow) {
  for (A algorithm : format::kAlgorithmValues) EXPECT_EQ(CandidateFor(algorithm).algorithm, algorithm);
  EXPECT_EQ(Candidates().back()->algorithm, A::kLibrary);
}

// An algorithm that a forged executable names for a call of another kind is refused.
TEST(CallCandidatesTest, AnAlgorithmIsForItsCallsOnly) {
  format::LibraryCall call = Product(32, 1024, 1000, false);
  call.algorithm = A::kUnpackedGemm;
  EXPECT_EQ(CheckAlgorithm(call).message(),
            "the algorithm 1 (UnpackedGemm) does not compute a MatMul of these shapes and types");
  call.algorithm = static_cast<A>(99);
  EXPECT_FALSE(CheckAlgorithm(call).ok());
  call = FilterGrad(8, 5, 64, 3, 64);
  for (A algorithm : {A::kUnpackedGemm, A::kPointwiseProduct, A::kDensePointwise, A::kPackPanels}) {
    call.algorithm = algorithm;
    EXPECT_FALSE(CheckAlgorithm(call).ok()) << format::Name(algorithm);
  }
}

}  // namespace
}  // namespace tandem
