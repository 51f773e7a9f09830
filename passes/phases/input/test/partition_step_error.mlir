// RUN: not tandem-opt %s -td-partition-step -split-input-file 2>&1 | FileCheck %s

// The new value of @a is read by the update of @b, which is on another server.
// CHECK: error: {{.*}}the new value of @a would be computed by a worker from the old one
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

// -----

// The new value of @a needs @b, which is on another server; an op stands between it and @a.
// CHECK: error: {{.*}}the new value of @a would be computed by a worker from the old one
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2>>} {
  td.variable @a : tensor<8xf32>
  td.variable @b : tensor<8xf32>
  func.func @step(%a: tensor<8xf32> {td.variable = @a}, %b: tensor<8xf32> {td.variable = @b})
      -> (tensor<8xf32> {td.update = @a}, tensor<8xf32> {td.update = @b}) {
    %abs = td.abs %a : tensor<8xf32>
    %new = td.add %abs, %b : tensor<8xf32>
    %neg = td.neg %b : tensor<8xf32>
    return %new, %neg : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A mean over replicas is the workers', and all that it is made of.
// CHECK: error: {{.*}}the new value of @a would be computed by a worker from the old one
module attributes {exec.config = #exec.config<part = #exec.part<servers = 1>>} {
  td.variable @a : tensor<f32>
  func.func @step(%x: tensor<?xf32> {td.input = "x"}, %a: tensor<f32> {td.variable = @a})
      -> (tensor<f32> {td.update = @a}) {
    %sum = td.reduce sum, %x axes [0] scope replica : tensor<?xf32> -> tensor<f32>
    %next = td.sub %sum, %a : tensor<f32>
    %mean = td.cross_replica mean %next : tensor<f32>
    return %mean : tensor<f32>
  }
}

// -----

// The same where the last op is the server's.
// CHECK: error: {{.*}}the new value of @a would be computed by a worker from the old one
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2>>} {
  td.variable @a : tensor<8xf32>
  td.variable @b : tensor<8xf32>
  func.func @step(%a: tensor<8xf32> {td.variable = @a}, %b: tensor<8xf32> {td.variable = @b})
      -> (tensor<8xf32> {td.update = @a}, tensor<8xf32> {td.update = @b}) {
    %abs = td.abs %a : tensor<8xf32>
    %sum = td.add %abs, %b : tensor<8xf32>
    %new = td.abs %sum : tensor<8xf32>
    %neg = td.neg %b : tensor<8xf32>
    return %new, %neg : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A server that adds to the variable loses nothing, whatever else of it a worker has read.
// CHECK-NOT: error: 
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2>>} {
  td.variable @a : tensor<8xf32>
  td.variable @b : tensor<8xf32>
  func.func @step(%a: tensor<8xf32> {td.variable = @a}, %b: tensor<8xf32> {td.variable = @b})
      -> (tensor<8xf32> {td.update = @a}, tensor<8xf32> {td.update = @b}) {
    %abs = td.abs %a : tensor<8xf32>
    %sum = td.add %abs, %b : tensor<8xf32>
    %new = td.sub %a, %sum : tensor<8xf32>
    %neg = td.neg %b : tensor<8xf32>
    return %new, %neg : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// What a worker's rows need no server can compute.
// CHECK: warning: {{.*}}the new value of @u is computed by a worker from the old one, which its batch needs as well
// CHECK-NOT: error: 
module attributes {exec.config = #exec.config<part = #exec.part<servers = 1>>} {
  td.variable @u : tensor<8xf32>
  func.func @step(%x: tensor<?x8xf32> {td.input = "x"}, %u: tensor<8xf32> {td.variable = @u})
      -> (tensor<8xf32> {td.update = @u}, tensor<?x8xf32> {td.output = "y"}) {
    %exp = td.exp %u : tensor<8xf32>
    %new = td.neg %exp : tensor<8xf32>
    %wide = td.broadcast %new dims [1] : tensor<8xf32> -> tensor<?x8xf32>
    %y = td.mul %x, %wide : tensor<?x8xf32>
    return %new, %y : tensor<8xf32>, tensor<?x8xf32>
  }
}
