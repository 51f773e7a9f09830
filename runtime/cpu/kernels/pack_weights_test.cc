// Packed weights hold the bits that oneDNN's own reorder puts there, zeros around the matrix included.
#include "runtime/cpu/kernels/pack_weights.h"

#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn/onednn_convolution.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/onednn/onednn_matmul.h"
#include "runtime/cpu/onednn/onednn_packing.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

// Numbers of all signs and magnitudes with digits that bfloat16 has not, ties among them.
std::vector<float> Numbers(size_t n) {
  std::vector<float> numbers(n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits = static_cast<uint32_t>(i) * 2654435761u;
    if (i % 5 == 0) bits = (bits & 0xffff0000u) | 0x8000u;
    std::memcpy(&numbers[i], &bits, sizeof(bits));
    if (numbers[i] != numbers[i]) numbers[i] = static_cast<float>(i);
  }
  return numbers;
}

// oneDNN's reorder from the plain to the packed layout.
std::vector<uint8_t> Reordered(const memory::desc& plain, const memory::desc& packed, std::vector<float>& numbers) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<uint8_t> bytes(packed.get_size(), 0xee);
  memory in(plain, engine, numbers.data()), out(packed, engine, bytes.data());
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
  return bytes;
}

void ExpectTheReorder(const memory::desc& plain, const memory::desc& packed) {
  const std::optional<WeightPanels> panels = onednn::PanelsOf(plain, packed);
  ASSERT_TRUE(panels.has_value());
  if (!PacksWeightPanels(panels->bfloat16)) GTEST_SKIP() << "this CPU has no such instructions";
  std::vector<float> numbers = Numbers(plain.get_size() / sizeof(float));
  // One byte more, which must stay.
  std::vector<uint8_t> bytes(packed.get_size() + 1, 0xdd);
  for (int64_t part = PackWeightsParts(*panels); part-- > 0;) {
    PackWeights(*panels, part, part + 1, numbers.data(), bytes.data());
  }
  EXPECT_EQ(bytes.back(), 0xdd);
  bytes.pop_back();
  EXPECT_TRUE(bytes == Reordered(plain, packed, numbers));
}

struct Layout {
  Tag tag;
  Type type;
};

class KernelPanelsTest : public testing::TestWithParam<std::tuple<Layout, int64_t, int64_t, int64_t>> {};

TEST_P(KernelPanelsTest, AreTheReorders) {
  const auto [layout, out, in, size] = GetParam();
  const memory::dims dims = {out, in, size, size};
  ExpectTheReorder({dims, Type::f32, Tag::hwio}, {dims, layout.type, layout.tag});
}

// Forward kernels come in panels of output channels, those of input gradients in panels of input channels.
INSTANTIATE_TEST_SUITE_P(
    Layouts, KernelPanelsTest,
    testing::Combine(testing::Values(Layout{Tag::AcdB16b64a2b, Type::bf16}, Layout{Tag::BcdA16a64b2a, Type::bf16},
                                     Layout{Tag::AcdB16b32a2b, Type::bf16}, Layout{Tag::BcdA16a32b2a, Type::bf16},
                                     Layout{Tag::Acdb64a, Type::f32}, Layout{Tag::Bcda64b, Type::f32},
                                     Layout{Tag::Acdb48a, Type::f32}, Layout{Tag::Bcda48b, Type::f32},
                                     Layout{Tag::Acdb16a, Type::f32}),
                     testing::Values(32, 47, 128), testing::Values(3, 64, 600), testing::Values(1, 3)));

class MatrixPanelsTest : public testing::TestWithParam<std::tuple<Layout, int64_t, int64_t, bool>> {};

TEST_P(MatrixPanelsTest, AreTheReorders) {
  const auto [layout, rows, columns, transposed] = GetParam();
  const memory::dims dims = {rows, columns};
  ExpectTheReorder({dims, Type::f32, transposed ? Tag::ba : Tag::ab}, {dims, layout.type, layout.tag});
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, MatrixPanelsTest,
    testing::Combine(testing::Values(Layout{Tag::BA16a64b, Type::f32}, Layout{Tag::BA16a64b2a, Type::bf16}),
                     testing::Values(1, 16, 47, 64, 100, 1030), testing::Values(10, 64, 100, 192), testing::Bool()));

TEST(PanelsOf, RefusesWhatIsNoPanels) {
  const memory::dims dims = {64, 64, 3, 3};
  const memory::desc plain(dims, Type::f32, Tag::hwio);
  EXPECT_FALSE(onednn::PanelsOf(plain, {dims, Type::f32, Tag::ABcd16b16a}));  // rows of one block are far apart
  EXPECT_FALSE(onednn::PanelsOf(plain, {dims, Type::bf16, Tag::Adcb16a}));    // no pairs, taps the other way
  EXPECT_FALSE(onednn::PanelsOf(plain, {dims, Type::f32, Tag::oihw}));
  EXPECT_FALSE(onednn::PanelsOf({dims, Type::f32, Tag::oihw}, {dims, Type::f32, Tag::Acdb64a}));
  EXPECT_FALSE(onednn::PanelsOf({dims, Type::bf16, Tag::hwio}, {dims, Type::bf16, Tag::AcdB16b64a2b}));
}

// Also where a whole tile of a panel is padding, which no layout above has.
TEST(PackWeights, FillsPanelsUpWithZeros) {
  if (!PacksWeightPanels(true)) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  const int64_t rows = 40, columns = 32, padded = 128;
  const std::vector<float> numbers(rows * columns, 1);
  for (bool transposed : {false, true}) {
    WeightPanels w;
    w.rows = rows, w.columns = columns, w.padded_rows = padded, w.panel_columns = columns;
    w.row_stride = transposed ? 1 : columns, w.column_stride = transposed ? rows : 1;
    w.bfloat16 = true, w.panel_stride = padded * columns;
    std::vector<uint16_t> panel(padded * columns, 7);
    PackWeights(w, 0, PackWeightsParts(w), numbers.data(), panel.data());
    for (int64_t i = 0; i < padded * columns; ++i) ASSERT_EQ(panel[i], i < rows * columns ? 0x3f80 : 0) << i;
  }
}

// The call for the weights of a dense layer's gradient, on as many threads as there are parts.
TEST(PackWeights, AreACallInParts) {
  const format::MatMul product = MatMulOf(32, 256, 192, /*transpose_a=*/false, /*transpose_b=*/true);
  format::LibraryCall call = PackingFor(CallOf(product));
  if (!PacksPanels(call)) GTEST_SKIP() << "this CPU's products read another layout: " << *ImplementationName(call);
  call.algorithm = format::Algorithm::kPackPanels;
  auto primitive = OneDnnPrimitive::Create(call, 1);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  EXPECT_EQ((*primitive)->implementation(), onednn::kPackPanels);
  std::vector<float> numbers = Numbers(192 * 256);
  const memory::dims dims = {256, 192};
  const std::vector<uint8_t> expected = Reordered({dims, Type::f32, Tag::ba}, onednn::PackedKernel(product), numbers);
  std::vector<uint8_t> packed(expected.size());
  void* in[] = {numbers.data()};
  EXPECT_EQ((*primitive)->parts(), 3);
  for (int64_t part = (*primitive)->parts(); part-- > 0;) {
    ASSERT_TRUE((*primitive)->RunParts(0, in, packed.data(), nullptr, part, part + 1).ok());
  }
  EXPECT_TRUE(packed == expected);
}

}  // namespace
}  // namespace tandem
