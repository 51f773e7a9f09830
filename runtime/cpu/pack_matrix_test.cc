// Packed matrices hold the elements where the layout says, and where oneDNN's own reorder puts them.
#include "runtime/cpu/pack_matrix.h"

#include <vector>

#include "gtest/gtest.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_layout.h"
#include "runtime/cpu/onednn_primitives.h"

namespace tandem {
namespace {

using dnnl::memory;

class PackMatrixTest : public testing::TestWithParam<std::tuple<int64_t, int64_t, bool>> {};

// oneDNN's reorder from the plain to the packed layout.
std::vector<float> Reordered(std::vector<float>& plain, int64_t rows, int64_t columns, bool transposed) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  memory::desc from({rows, columns}, memory::data_type::f32,
                    transposed ? memory::format_tag::ba : memory::format_tag::ab);
  memory::desc to({rows, columns}, memory::data_type::f32, memory::format_tag::BA16a64b);
  std::vector<float> packed(to.get_size() / sizeof(float), -1);
  memory in(from, engine, plain.data()), out(to, engine, packed.data());
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
  return packed;
}

TEST_P(PackMatrixTest, EqualsTheReorder) {
  auto [rows, columns, transposed] = GetParam();
  std::vector<float> plain(rows * columns);
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = 1 + static_cast<float>(i);
  std::vector<float> expected = Reordered(plain, rows, columns, transposed);
  const int64_t blocks = (columns + kPackedColumns - 1) / kPackedColumns;
  std::vector<float> packed(expected.size(), -2);
  PackMatrix(plain.data(), rows, columns, transposed, 0, blocks / 2, packed.data());
  PackMatrix(plain.data(), rows, columns, transposed, blocks / 2, blocks, packed.data());
  EXPECT_EQ(packed, expected);
}

INSTANTIATE_TEST_SUITE_P(Sizes, PackMatrixTest,
                         testing::Combine(testing::Values(1, 16, 47, 64, 100), testing::Values(10, 64, 100, 192),
                                          testing::Bool()));

// The call for the weights of a dense layer's gradient, on three threads' worth of parts.
TEST(PackMatrix, PackWeightsIsCutIntoParts) {
  fb::LibraryCallT call;
  call.primitive = fb::Primitive::PackWeights;
  call.packed_for = fb::Primitive::MatMul;
  call.x_shape = {32, 256};
  call.kernel_shape = {192, 256};
  call.y_shape = {32, 192};
  call.transpose_b = true;
  auto primitive = OneDnnPrimitive::Create(call, 1);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  auto name = ImplementationName(call);
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(*name, (*primitive)->implementation());
  if (*name != "pack_matrix") GTEST_SKIP() << "this CPU's products read another layout: " << *name;
  std::vector<float> plain(192 * 256);
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i);
  std::vector<float> expected = Reordered(plain, 256, 192, true), packed(expected.size());
  void* in[] = {plain.data()};
  for (int64_t part = (*primitive)->parts(); part-- > 0;) {
    ASSERT_TRUE((*primitive)->RunParts(0, in, packed.data(), nullptr, part, part + 1).ok());
  }
  EXPECT_EQ(packed, expected);
}

}  // namespace
}  // namespace tandem
