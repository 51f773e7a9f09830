// Random numbers are constants for the gradient, also on a path that has a derivative (dropout).
#include "graph/gradients/gradient_cases.h"

namespace tandem {
namespace {

const bool kRandom = AddGradientCases({
    {.op = "td.random_uniform",
     .function = R"(func.func @main(%x: tensor<?x4xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> tensor<?x4xf32> {
       %u = td.random_uniform %seed, %step key 5 shape [-1, 4] -> tensor<?x4xf32>
       %y = td.mul %x, %u : tensor<?x4xf32>
       return %y : tensor<?x4xf32>
     })"},
    {.op = "td.random_uniform",
     .function = R"(func.func @main(%x: tensor<4xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> tensor<4xf32> {
       %u = td.random_uniform %seed, %step key 5 shape [4] -> tensor<4xf32>
       %c = td.compare lt, %u, %x : tensor<4xf32> -> tensor<4xi1>
       %y = td.select %c, %x, %u : tensor<4xi1>, tensor<4xf32>
       return %y : tensor<4xf32>
     })"},
});

}  // namespace
}  // namespace tandem
