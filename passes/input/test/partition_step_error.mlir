// RUN: not tandem-opt %s -td-partition-step 2>&1 | FileCheck %s

// The new value of @a is read by the update of @b, which is on another server.
// CHECK: error: {{.*}}the new value of @a is read by the update of a variable on another parameter server
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2>>} {
  td.variable @a : tensor<8xf32>
  td.variable @b : tensor<8xf32>
  func.func @step(%a: tensor<8xf32> {td.variable = @a}, %b: tensor<8xf32> {td.variable = @b})
      -> (tensor<8xf32> {td.update = @a}, tensor<8xf32> {td.update = @b}) {
    %new = td.neg %a : tensor<8xf32>
    %sum = td.add %new, %b : tensor<8xf32>
    return %new, %sum : tensor<8xf32>, tensor<8xf32>
  }
}
