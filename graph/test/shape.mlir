// RUN: tandem-opt %s -split-input-file | tandem-opt -split-input-file | FileCheck %s
// RUN: tandem-opt %s -split-input-file -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x2x3xf32>, %b: tensor<3xf32>, %i: tensor<?xi64>) {
  // CHECK: td.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %c = td.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: td.iota axis 1 : tensor<?x10xi64>
  %0 = td.iota axis 1 : tensor<?x10xi64>
  // CHECK: td.broadcast %{{.*}} dims [2] : tensor<3xf32> -> tensor<?x2x3xf32>
  %1 = td.broadcast %b dims [2] : tensor<3xf32> -> tensor<?x2x3xf32>
  // CHECK: td.reshape %{{.*}} : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %2 = td.reshape %x : tensor<?x2x3xf32> -> tensor<?x6xf32>
  // CHECK: td.transpose %{{.*}} perm [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  %3 = td.transpose %x perm [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  // CHECK: td.slice %{{.*}} begin [0, 1] size [-1, 2] : tensor<?x6xf32> -> tensor<?x2xf32>
  %4 = td.slice %2 begin [0, 1] size [-1, 2] : tensor<?x6xf32> -> tensor<?x2xf32>
  // CHECK: td.pad %{{.*}} low [0, 1] high [0, 0] : tensor<?x6xf32> -> tensor<?x7xf32>
  %5 = td.pad %2 low [0, 1] high [0, 0] : tensor<?x6xf32> -> tensor<?x7xf32>
  // CHECK: td.pad %{{.*}} low [0, 1] high [0, 0] value 2.000000e+00 : tensor<?x6xf32> -> tensor<?x7xf32>
  %6 = td.pad %2 low [0, 1] high [0, 0] value 2.0 : tensor<?x6xf32> -> tensor<?x7xf32>
  // CHECK: td.concat %{{.*}}, %{{.*}} axis 1 : (tensor<?x6xf32>, tensor<?x7xf32>) -> tensor<?x13xf32>
  %7 = td.concat %2, %5 axis 1 : (tensor<?x6xf32>, tensor<?x7xf32>) -> tensor<?x13xf32>
  // CHECK: td.one_hot %{{.*}} : tensor<?xi64> -> tensor<?x10xf32>
  %8 = td.one_hot %i : tensor<?xi64> -> tensor<?x10xf32>
  // CHECK: td.gather %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<?xi64>) -> tensor<?xf32>
  %9 = td.gather %b, %i : (tensor<3xf32>, tensor<?xi64>) -> tensor<?xf32>
  // CHECK: td.scatter_add %{{.*}}, %{{.*}} : (tensor<?xf32>, tensor<?xi64>) -> tensor<3xf32>
  %10 = td.scatter_add %9, %i : (tensor<?xf32>, tensor<?xi64>) -> tensor<3xf32>
  return
}

// -----

// FOLD-LABEL: @folds
// FOLD-SAME: %[[X:.*]]: tensor<?x2x3xf32>, %[[B:.*]]: tensor<3xf32>
func.func @folds(%x: tensor<?x2x3xf32>, %b: tensor<3xf32>) -> (tensor<?x3x2xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>) {
  // FOLD-DAG: %[[R:.*]] = td.reshape %[[X]] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  %0 = td.reshape %x : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %1 = td.reshape %0 : tensor<?x6xf32> -> tensor<?x3x2xf32>
  %2 = td.transpose %x perm [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  %3 = td.transpose %2 perm [0, 2, 1] : tensor<?x3x2xf32> -> tensor<?x2x3xf32>
  // FOLD-DAG: %[[W:.*]] = td.broadcast %[[B]] dims [2] : tensor<3xf32> -> tensor<?x2x3xf32>
  %4 = td.broadcast %b dims [1] : tensor<3xf32> -> tensor<2x3xf32>
  %5 = td.broadcast %4 dims [1, 2] : tensor<2x3xf32> -> tensor<?x2x3xf32>
  // FOLD: return %[[R]], %[[X]], %[[W]]
  return %1, %3, %5 : tensor<?x3x2xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
}
