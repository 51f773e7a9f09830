// RUN: not tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo -split-input-file 2>&1 | FileCheck %s

// CHECK: error: model.cc:9: "dropout/Random": td.random_uniform has no form in StableHLO: it draws random numbers, {{.*}} .training = mode == Mode::kTrain
func.func @step(%x: tensor<?xf32> {td.input = "x"}, %seed: tensor<i64> {td.scalar = "seed"},
                %step: tensor<i64> {td.scalar = "global_step"}) -> (tensor<?xf32> {td.output = "y"}) {
  %0 = td.random_uniform %seed, %step key 42 shape [-1] -> tensor<?xf32> loc("dropout/Random"("model.cc":9:3))
  %1 = td.add %x, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK: error: model.cc:5: "mean/Div": td.broadcast has no form in StableHLO: it reads the step scalar "example_count"
func.func @step(%x: tensor<?xf32> {td.input = "x"}, %n: tensor<f32> {td.scalar = "example_count"})
    -> (tensor<?xf32> {td.output = "y"}) {
  %0 = td.broadcast %n dims [] : tensor<f32> -> tensor<?xf32> loc("mean/Div"("model.cc":5:3))
  %1 = td.div %x, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK: error: model.cc:12: "head/Sum": td.reduce has no form in StableHLO: it combines the rows of a batch, {{.*}} leave this output out
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}) -> (tensor<3xf32> {td.output = "y"}) {
  %0 = td.reduce sum, %x axes [0] : tensor<?x3xf32> -> tensor<3xf32> loc("head/Sum"("model.cc":12:3))
  return %0 : tensor<3xf32>
}

// -----

// CHECK: error: {{.*}}td.argmax has no form in StableHLO: it combines the rows of a batch
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}) -> (tensor<3xi64> {td.output = "y"}) {
  %0 = td.argmax %x axis 0 : tensor<?x3xf32> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

// CHECK: error: {{.*}}td.matmul has no form in StableHLO: it combines the rows of a batch
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}) -> (tensor<3x3xf32> {td.output = "y"}) {
  %0 = td.matmul %x, %x {transpose_a = true} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// CHECK: error: {{.*}}td.avg_pool_grad has no form in StableHLO: it is a part of a gradient
func.func @step(%x: tensor<?x2x2x1xf32> {td.input = "x"}) -> (tensor<?x4x4x1xf32> {td.output = "y"}) {
  %0 = td.avg_pool_grad %x size [4, 4] window [2, 2] strides [2, 2] low [0, 0] high [0, 0]
      : tensor<?x2x2x1xf32> -> tensor<?x4x4x1xf32>
  return %0 : tensor<?x4x4x1xf32>
}

// -----

// CHECK: error: model.cc:3: "erf": td.erf has no form in StableHLO: the error function is exported in float32 only; Cast
func.func @step(%x: tensor<?xf64> {td.input = "x"}) -> (tensor<?xf64> {td.output = "y"}) {
  %0 = td.erf %x : tensor<?xf64> loc("erf"("model.cc":3:1))
  return %0 : tensor<?xf64>
}

// -----

// CHECK: error: the model has no inputs
func.func @step(%w: tensor<2xf32> {td.variable = @w}) -> (tensor<2xf32> {td.output = "y"}) {
  return %w : tensor<2xf32>
}

// -----

// CHECK: error: there is no function @step
func.func @other() {
  return
}
