// Every algorithm of contractions, forced on all that it is able to compute: values and bits.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "passes/base/report_segments.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// Something for each of them: a stem, convolutions of which one has a stride and one a single channel, a depthwise one,
// layers with large and tiny products.
void Model(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 10, 10, 1});
  x = layers::Conv2D(x, {.filters = 16, .kernel_size = 3, .activation = Relu});
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  x = layers::DepthwiseConv2D(x, {.kernel_size = 3, .padding = Padding::kSame});
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 1, .strides = 2, .activation = Relu});
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 1});
  x = x * Sigmoid(layers::Conv2D(x, {.filters = 1, .kernel_size = 3, .padding = Padding::kSame}));
  x = layers::Flatten(x);
  x = layers::Dense(x, {.units = 128, .activation = Tanh});
  Tensor y = layers::Dense(layers::Dense(x, {.units = 16}), {.units = 1});
  Tensor loss = losses::MeanSquaredError(g.Input("label", DType::kFloat32, {kBatch, 1}), y);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

// How many contractions are computed by `algorithm`, as the compiler reports.
int Taken(const Executable& executable, const std::string& algorithm) {
  int taken = 0;
  for (size_t i = 0; i < executable.index().segments.size(); ++i) {
    if (executable.index().segments[i].name != kContractionReports) continue;
    for (absl::string_view line : absl::StrSplit(executable.segment(static_cast<int>(i)), '\n', absl::SkipEmpty())) {
      const std::vector<std::string> fields = absl::StrSplit(line, '\t');
      taken += fields[3] == algorithm && fields[6].empty();
    }
  }
  return taken;
}

// Library calls by `algorithm`.
int Calls(const Executable& executable, format::Algorithm algorithm) {
  int calls = 0;
  for (const auto& section : executable.index().programs[0].sections) {
    for (const auto& command : section.commands) {
      const format::LibraryCall* call = command.body.As<format::LibraryCall>();
      calls += call != nullptr && call->algorithm == algorithm;
    }
  }
  return calls;
}

class GeneratedAlgorithms : public testing::TestWithParam<std::string> {
 protected:
  Options OptionsFor(int devices, int64_t batch) const {
    Options options{.devices = devices, .batch = batch, .lanes = 4, .steps = 2};
    options.contractions = {absl::StrCat("*:", GetParam())};
    return options;
  }
};

TEST_P(GeneratedAlgorithms, ComputeTheReferencesValues) {
  absl::StatusOr<Program> program = Prepare(Model, OptionsFor(1, 8));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_GT(Taken(*program->executable, GetParam()), 0);
  Options whole = OptionsFor(1, 8), uneven = OptionsFor(2, 8);
  uneven.rows = {8, 3};
  if (GetParam() == "winograd_f4") whole.tolerance = uneven.tolerance = 1e-4;
  CompareWithReference(Model, whole);
  CompareWithReference(Model, uneven);
}

TEST_P(GeneratedAlgorithms, GiveTheSameBitsOnAnyDevices) {
  ExpectSameBits(Model, OptionsFor(1, 16), {16, 11}, {{1, 2}, {2, 1}, {4, 3}});
}

INSTANTIATE_TEST_SUITE_P(All, GeneratedAlgorithms,
                         testing::Values("library", "fused_product", "generated_loop", "few_taps", "single_channel",
                                         "weight_grad_blocks", "winograd_f2", "winograd_f3", "winograd_f4"),
                         [](const auto& info) { return info.param; });

struct LibraryAlgorithm {
  std::string name;
  format::Algorithm algorithm;
  bool needs_avx512;
};
void PrintTo(const LibraryAlgorithm& a, std::ostream* os) { *os << a.name; }

class LibraryAlgorithms : public testing::TestWithParam<LibraryAlgorithm> {};

TEST_P(LibraryAlgorithms, ComputeTheReferencesValues) {
  if (GetParam().needs_avx512 && !UsesAvx512()) GTEST_SKIP() << "this CPU has no AVX-512";
  Options options{.batch = 16, .rows = {13}, .lanes = 4, .steps = 2};
  options.contractions = {absl::StrCat("*:", GetParam().name)};
  absl::StatusOr<Program> program = Prepare(Model, options);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_GT(Calls(*program->executable, GetParam().algorithm), 0);
  CompareWithReference(Model, options);
}

INSTANTIATE_TEST_SUITE_P(
    All, LibraryAlgorithms,
    testing::Values(LibraryAlgorithm{"unpacked_gemm", format::Algorithm::kUnpackedGemm, true},
                    LibraryAlgorithm{"direct_filter_grad", format::Algorithm::kDirectFilterGrad, true},
                    LibraryAlgorithm{"pointwise_product", format::Algorithm::kPointwiseProduct, false},
                    LibraryAlgorithm{"dense_pointwise", format::Algorithm::kDensePointwise, false}),
    [](const auto& info) { return info.param.name; });

TEST(ChoicesTest, AnAlgorithmThatCannotComputeTheNamedOpIsAnError) {
  Options options;
  options.contractions = {"conv2d_2/Conv2D:winograd"};
  const absl::Status strided = Prepare(Model, options).status();
  EXPECT_EQ(strided.code(), absl::StatusCode::kUnimplemented) << strided;
  EXPECT_THAT(std::string(strided.message()),
              testing::HasSubstr("cannot be computed by winograd, as --choose wants it: a kernel of 1x1 is not 3x3"));
  options.contractions = {"dense/MatMul:few_taps"};
  EXPECT_THAT(std::string(Prepare(Model, options).status().message()),
              testing::HasSubstr("as --choose wants it: it is not for such ops on this target"));
  options.contractions = {"dense/MatMul:direct_filter_grad"};
  EXPECT_THAT(std::string(Prepare(Model, options).status().message()),
              testing::HasSubstr("DirectFilterGrad) does not compute a MatMul of these shapes and types"));
}

TEST(ChoicesTest, AMisspeltChoiceIsAUsageError) {
  Options options;
  for (const char* text : {"winograd", "conv2d:winogard", ":winograd", "conv2d:winograd_f5", "conv2d:pack_panels"}) {
    options.contractions = {text};
    const absl::Status status = Prepare(Model, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(
        std::string(status.message()),
        testing::StartsWith(absl::StrCat("TANDEM_FLAGS: \"--choose=", text,
                                         "\" must have the form --choose=NAME:ALGORITHM, with the name of an op "
                                         "or a layer, or *, and one of these algorithms: library, ")));
  }
}

}  // namespace
}  // namespace tandem::compiled
