// A model as the builder leaves it, through every phase.
// RUN: tandem-opt %s --compile-to=input | FileCheck %s --check-prefix=INPUT
// RUN: tandem-opt %s --compile-to=precision | FileCheck %s --check-prefix=INPUT
// RUN: tandem-opt %s --compile-to=distribute | FileCheck %s --check-prefix=DISTRIBUTE
// RUN: tandem-opt %s --compile-to=layout | FileCheck %s --check-prefix=LAYOUT
// RUN: tandem-opt %s --compile-to=fusion | FileCheck %s --check-prefix=FUSION
// RUN: tandem-opt %s --compile-to=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: tandem-opt %s --compile-to=memory | FileCheck %s --check-prefix=MEMORY

// The step is a function of inputs, scalars and variables; all types are those of the model.
// INPUT-LABEL: func.func @step(
// INPUT-SAME: tensor<?x8xf32> {td.input = "x"}
// INPUT-SAME: tensor<f32> {td.scalar = "learning_rate"}
// INPUT-SAME: tensor<8x4xf32> {td.variable = @"dense/kernel"}
// INPUT-SAME: -> (tensor<8x4xf32> {td.update = @"dense/kernel"}, tensor<f32> {td.output = "loss"})
// INPUT-NOT: td.read
// INPUT-NOT: td.assign
// INPUT: %[[NEW:.*]] = td.apply_sgd
// INPUT: return %[[NEW]], %{{.*}} : tensor<8x4xf32>, tensor<f32>

// Two replicas of one step: a map over 8 lanes of 16 rows, one numbered all-reduce, a check before the update.
// DISTRIBUTE: exec.replica @replica_0 device("cpu:0") body(@step)
// DISTRIBUTE: exec.replica @replica_1 device("cpu:1") body(@step)
// DISTRIBUTE: %[[MAP:.*]]:2 = exec.map_microbatches({{.*}}reduce [sum, sum]{{.*}} lanes 8 rows 16
// DISTRIBUTE: td.matmul {{.*}} -> tensor<?x4xf32>
// DISTRIBUTE: exec.yield
// DISTRIBUTE: %[[SUM:.*]]:2 = exec.all_reduce sum %[[MAP]]#0, %[[MAP]]#1 {bucket = 0 : i64, group = array<i64: 0, 1>, names = [{{.*}}], seq = 0 : i64}
// DISTRIBUTE: exec.check_finite %[[SUM]]#0, %[[SUM]]#1
// DISTRIBUTE: td.apply_sgd %{{.*}}, %[[SUM]]#1

// Contractions are calls of a library.
// LAYOUT-NOT: = td.matmul
// LAYOUT: exec.library_call({{.*}}) #exec.matmul<
// LAYOUT: exec.library_call({{.*}}) #exec.matmul<{{.*}}reduces_batch = true
// LAYOUT-NOT: = td.matmul

// Everything else is in kernels.
// FUSION-LABEL: func.func @step
// FUSION: exec.map_microbatches
// FUSION: exec.library_call({{.*}}) #exec.matmul<
// FUSION: %[[DIFF:.*]]:2 = exec.launch @[[LOOP:[a-z0-9_]+]](
// FUSION: exec.all_reduce
// FUSION: exec.launch @[[UPDATE:[a-z0-9_]+]](%{{.*}}, %{{.*}}#1, %{{.*}}) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>)
// FUSION: return
// FUSION: func.func private @[[LOOP]]({{.*}}exec.kernel = #exec.kernel_kind<loop>
// FUSION-NEXT: td.sub
// FUSION: func.func private @[[UPDATE]]({{.*}}exec.kernel = #exec.kernel_kind<flat>
// FUSION-NEXT: td.apply_sgd %{{.*}} : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>

// The sum of squares follows at once on the values that it reads.
// SCHEDULE: %[[DIFF:.*]]:2 = exec.launch
// SCHEDULE-NEXT: exec.launch @{{.*}}(%[[DIFF]]#0) : (tensor<?x4xf32>) -> tensor<f32>
// SCHEDULE-NEXT: exec.library_call(%{{.*}}, %[[DIFF]]#1) #exec.matmul<

// Every value has a buffer; the new variable takes the old one's.
// MEMORY: exec.arenas = #exec.arenas<
// MEMORY-SAME: exec.buffers = [
// MEMORY-SAME: name = "dense/kernel", space = variable
// MEMORY-SAME: name = "dense/MatMul", space = microbatch
// MEMORY: func.func @step(
// MEMORY-SAME: {exec.buffer = [[W:[0-9]+]] : i64, td.variable = @"dense/kernel"}
// MEMORY: exec.launch @[[UPDATE:[a-z0-9_]+]](%{{.*}}) {exec.out = array<i64: [[W]]>} : (tensor<8x4xf32>
// MEMORY: func.func private @[[UPDATE]]({{.*}}exec.alias = array<i64: 0>

module attributes {exec.config = #exec.config<mode = "train", devices = ["cpu:0", "cpu:1"], batch = 64>} {
  td.variable @"dense/kernel" : tensor<8x4xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  func.func @main() {
    %x = td.input "x" : tensor<?x8xf32>
    %y = td.input "y" : tensor<?x4xf32>
    %w = td.read @"dense/kernel" : tensor<8x4xf32>
    %lr = td.scalar "learning_rate" : tensor<f32>
    %n = td.scalar "example_count" : tensor<f32>
    %p = td.matmul %x, %w : tensor<?x8xf32>, tensor<8x4xf32> -> tensor<?x4xf32> loc("dense/MatMul"("model.cc":7:0))
    %d = td.sub %p, %y : tensor<?x4xf32>
    %s = td.mul %d, %d : tensor<?x4xf32>
    %sum = td.reduce sum, %s axes [0, 1] : tensor<?x4xf32> -> tensor<f32>
    %loss = td.div %sum, %n : tensor<f32>
    %two = td.constant dense<2.0> : tensor<f32>
    %scale = td.div %two, %n : tensor<f32>
    %b = td.broadcast %scale dims [] : tensor<f32> -> tensor<?x4xf32>
    %dp = td.mul %d, %b : tensor<?x4xf32>
    %g = td.matmul %x, %dp {transpose_a = true} : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<8x4xf32>
    %v = td.apply_sgd %w, %g, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    td.assign @"dense/kernel", %v : tensor<8x4xf32>
    td.output "loss", %loss : tensor<f32>
    return
  }
}
