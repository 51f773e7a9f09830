// Reference semantics of matmul and convolutions against values worked out by hand.
#include "gmock/gmock.h"
#include "graph/ir/evaluate_test_util.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

using testing::ElementsAre;

TEST(MatMulTest, AllFourForms) {
  // a = [1 2 3; 4 5 6], b = [7 8; 9 10; 11 12].
  const std::vector<double> a = {1, 2, 3, 4, 5, 6}, at = {1, 4, 2, 5, 3, 6};
  const std::vector<double> b = {7, 8, 9, 10, 11, 12}, bt = {7, 9, 11, 8, 10, 12};
  const std::vector<double> product = {58, 64, 139, 154};
  EXPECT_THAT(EvaluateOp("%a: tensor<?x3xf32>, %b: tensor<3x2xf32>",
                         "%y = td.matmul %a, %b : tensor<?x3xf32>, tensor<3x2xf32> -> tensor<?x2xf32>", {a, b}, 2),
              ElementsAre(product));
  EXPECT_THAT(
      EvaluateOp("%a: tensor<?x3xf32>, %b: tensor<2x3xf32>",
                 "%y = td.matmul %a, %b {transpose_b = true} : tensor<?x3xf32>, tensor<2x3xf32> -> tensor<?x2xf32>",
                 {a, bt}, 2),
      ElementsAre(product));
  EXPECT_THAT(
      EvaluateOp("%a: tensor<?x2xf32>, %b: tensor<?x2xf32>",
                 "%y = td.matmul %a, %b {transpose_a = true} : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<2x2xf32>",
                 {at, b}, 3),
      ElementsAre(product));
  EXPECT_THAT(EvaluateOp("%a: tensor<3x2xf32>, %b: tensor<2x3xf32>",
                         "%y = td.matmul %a, %b {transpose_a = true, transpose_b = true} : "
                         "tensor<3x2xf32>, tensor<2x3xf32> -> tensor<2x2xf32>",
                         {at, bt}),
              ElementsAre(product));
}

TEST(MatMulTest, DimensionsBetweenBatchAndColumnsAreRows) {
  EXPECT_THAT(EvaluateOp("%a: tensor<?x2x2xf32>, %b: tensor<2x1xf32>",
                         "%y = td.matmul %a, %b : tensor<?x2x2xf32>, tensor<2x1xf32> -> tensor<?x2x1xf32>",
                         {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 10}}, 2),
              ElementsAre(ElementsAre(21, 43, 65, 87)));
  EXPECT_THAT(EvaluateOp("%a: tensor<?x2x2xf32>, %b: tensor<?x2x1xf32>",
                         "%y = td.matmul %a, %b {transpose_a = true} : "
                         "tensor<?x2x2xf32>, tensor<?x2x1xf32> -> tensor<2x1xf32>",
                         {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 10, 100, 1000}}, 2),
              ElementsAre(ElementsAre(7531, 8642)));
}

TEST(BatchMatMulTest, EveryExampleHasItsOwnProduct) {
  // [1 2; 3 4] [1 0; 0 2] and [5 6; 7 8] [0 1; 1 0].
  EXPECT_THAT(EvaluateOp("%a: tensor<?x2x2xf32>, %b: tensor<?x2x2xf32>",
                         "%y = td.batch_matmul %a, %b : tensor<?x2x2xf32>, tensor<?x2x2xf32> -> tensor<?x2x2xf32>",
                         {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 0, 2, 0, 1, 1, 0}}, 2),
              ElementsAre(ElementsAre(1, 4, 3, 8, 6, 5, 8, 7)));
}

TEST(BatchMatMulTest, SwappedAndTransposedTensors) {
  // Two heads of one example: rows [1 2], [3 4] and [5 6], [7 8] times columns [1 10] and [100 1000].
  const std::vector<double> heads_outside = {1, 2, 3, 4, 5, 6, 7, 8}, heads_inside = {1, 2, 5, 6, 3, 4, 7, 8};
  const std::vector<double> columns = {1, 10, 100, 1000};
  const std::vector<double> outside = {21, 43, 6500, 8700}, inside = {21, 6500, 43, 8700};
  EXPECT_THAT(EvaluateOp("%a: tensor<?x2x2x2xf32>, %b: tensor<?x2x1x2xf32>",
                         "%y = td.batch_matmul %a, %b {transpose_b = true} : "
                         "tensor<?x2x2x2xf32>, tensor<?x2x1x2xf32> -> tensor<?x2x2x1xf32>",
                         {heads_outside, columns}),
              ElementsAre(outside));
  EXPECT_THAT(EvaluateOp("%a: tensor<?x2x2x2xf32>, %b: tensor<?x1x2x2xf32>",
                         "%y = td.batch_matmul %a, %b {swap_a = true, swap_b = true, transpose_b = true, swap_output = "
                         "true} : tensor<?x2x2x2xf32>, tensor<?x1x2x2xf32> -> tensor<?x2x2x1xf32>",
                         {heads_inside, columns}),
              ElementsAre(inside));
}

TEST(Conv2DTest, Valid) {
  // Cross-correlation: the kernel is not flipped.
  EXPECT_THAT(EvaluateOp("%x: tensor<?x3x3x1xf32>, %k: tensor<2x2x1x1xf32>",
                         "%y = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : "
                         "tensor<?x3x3x1xf32>, tensor<2x2x1x1xf32> -> tensor<?x2x2x1xf32>",
                         {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10, 100, 1000}}),
              ElementsAre(ElementsAre(5421, 6532, 8754, 9865)));
}

TEST(Conv2DTest, SameWithStrideTwo) {
  // A 3x3 box over a 4x4 image of ones: TensorFlow pads below and at the right only.
  EXPECT_THAT(EvaluateOp("%x: tensor<?x4x4x1xf32>, %k: tensor<3x3x1x1xf32>",
                         "%y = td.conv2d %x, %k strides [2, 2] low [0, 0] high [1, 1] : "
                         "tensor<?x4x4x1xf32>, tensor<3x3x1x1xf32> -> tensor<?x2x2x1xf32>",
                         {std::vector<double>(16, 1), std::vector<double>(9, 1)}),
              ElementsAre(ElementsAre(9, 6, 6, 4)));
}

TEST(Conv2DTest, Channels) {
  // One pixel, two channels in, three out.
  EXPECT_THAT(EvaluateOp("%x: tensor<?x1x1x2xf32>, %k: tensor<1x1x2x3xf32>",
                         "%y = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : "
                         "tensor<?x1x1x2xf32>, tensor<1x1x2x3xf32> -> tensor<?x1x1x3xf32>",
                         {{2, 3}, {1, 2, 3, 10, 20, 30}}),
              ElementsAre(ElementsAre(32, 64, 96)));
}

TEST(Conv2DInputGradTest, SpreadsTheKernel) {
  // The last column of the image is under no window.
  EXPECT_THAT(EvaluateOp("%dy: tensor<?x1x1x1xf32>, %k: tensor<2x2x1x1xf32>",
                         "%dx = td.conv2d_input_grad %dy, %k size [2, 3] strides [2, 2] low [0, 0] high [0, 0] : "
                         "tensor<?x1x1x1xf32>, tensor<2x2x1x1xf32> -> tensor<?x2x3x1xf32>",
                         {{10}, {1, 2, 3, 4}}),
              ElementsAre(ElementsAre(10, 20, 0, 30, 40, 0)));
}

TEST(Conv2DFilterGradTest, SumsOverThePixelsAndTheBatch) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x2x2x1xf32>, %dy: tensor<?x2x1x1xf32>",
                         "%dk = td.conv2d_filter_grad %x, %dy size [1, 2] strides [1, 1] low [0, 0] high [0, 0] : "
                         "tensor<?x2x2x1xf32>, tensor<?x2x1x1xf32> -> tensor<1x2x1x1xf32>",
                         {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 10, 100, 1000}}, 2),
              ElementsAre(ElementsAre(1 + 30 + 500 + 7000, 2 + 40 + 600 + 8000)));
}

}  // namespace
}  // namespace tandem::td
