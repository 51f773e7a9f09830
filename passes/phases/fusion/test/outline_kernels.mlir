// RUN: tandem-opt %s -td-form-fusions -td-outline-kernels | FileCheck %s

// Updates of variables of different sizes are one flat kernel; the learning rate stays a scalar, and the splat constant
// becomes one.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @kernel_0({{.*}}) : (tensor<784x64xf32>, tensor<f32>, tensor<784x64xf32>) -> tensor<784x64xf32>
// CHECK: exec.launch @kernel_0({{.*}}) : (tensor<10xf32>, tensor<f32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK: exec.launch @kernel_1
// CHECK: exec.launch @kernel_2
// CHECK: func.func private @kernel_0(%{{.*}}: tensor<?xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>}
// CHECK: td.broadcast {{.*}} : tensor<f32> -> tensor<?xf32>
// CHECK: func.func private @kernel_1{{.*}}exec.kernel = #exec.kernel_kind<once>
// CHECK: func.func private @kernel_2{{.*}}exec.kernel = #exec.kernel_kind<row>
// CHECK-NOT: func.func
func.func @step(%w: tensor<784x64xf32>, %dw: tensor<784x64xf32>, %b: tensor<10xf32>, %db: tensor<10xf32>, %lr: tensor<f32>,
                %x: tensor<?x4xf32>) -> (tensor<784x64xf32>, tensor<10xf32>, tensor<f32>, tensor<?xf32>) {
  %half = td.constant dense<0.5> : tensor<784x64xf32>
  %0 = td.broadcast %lr dims [] : tensor<f32> -> tensor<784x64xf32>
  %1 = td.mul %dw, %0 : tensor<784x64xf32>
  %2 = td.mul %1, %half : tensor<784x64xf32>
  %3 = td.sub %w, %2 : tensor<784x64xf32>
  %half2 = td.constant dense<0.5> : tensor<10xf32>
  %4 = td.broadcast %lr dims [] : tensor<f32> -> tensor<10xf32>
  %5 = td.mul %db, %4 : tensor<10xf32>
  %6 = td.mul %5, %half2 : tensor<10xf32>
  %7 = td.sub %b, %6 : tensor<10xf32>
  %s = td.sqrt %lr : tensor<f32>
  %m = td.reduce max, %x axes [1] : tensor<?x4xf32> -> tensor<?xf32>
  return %3, %7, %s, %m : tensor<784x64xf32>, tensor<10xf32>, tensor<f32>, tensor<?xf32>
}
