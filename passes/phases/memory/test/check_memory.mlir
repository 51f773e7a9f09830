// RUN: tandem-opt %s -td-assign-buffers -td-check-memory -split-input-file -verify-diagnostics

// 64 bytes each of variable and step arena, 4096 of the batch arena, 8 + 4 slots of 64, four arenas of 512: 7040 in all.
module attributes {exec.config = #exec.config<memory_limit = 7040>} {
  func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
    %0 = td.neg %x : tensor<?x16xf32>
    return %0 : tensor<?x16xf32>
  }
  func.func private @sum(%x: tensor<?x16xf32>, %w: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
    %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
  func.func @step(%x: tensor<?x16xf32> {td.input = "x"}, %w: tensor<16xf32> {td.variable = @w})
      -> (tensor<16xf32> {td.output = "s"}, tensor<?x16xf32> {td.output = "y"}) {
    %r:2 = exec.map_microbatches (%x, %w : tensor<?x16xf32>, tensor<16xf32>) reduce [sum, keep] scope [global, replica]
        lanes 8 rows 8 microbatch 8 -> (tensor<16xf32>, tensor<?x16xf32>) {
    ^bb0(%xs: tensor<?x16xf32>, %ws: tensor<16xf32>):
      %a = exec.launch @neg(%xs) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %y = exec.launch @neg(%a) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %s = exec.launch @sum(%y, %ws) : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<16xf32>
      exec.yield %s, %y : tensor<16xf32>, tensor<?x16xf32>
    }
    return %r#0, %r#1 : tensor<16xf32>, tensor<?x16xf32>
  }
}

// -----

// expected-error@+1 {{the program takes 4.0 MiB and memory_limit allows 3.0 MiB: variables 0.0 MiB, batch arena 4.0 MiB, step arena 0.0 MiB, slots of lanes 0.0 MiB, threads 0.0 MiB; largest buffers: y (batch, 4.0 MiB), x (input, 0.0 MiB); a smaller batch or fewer lanes}}
module attributes {exec.config = #exec.config<memory_limit = 3145728>} {
  func.func private @neg(%x: tensor<?x16384xf32>) -> tensor<?x16384xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
    %0 = td.neg %x : tensor<?x16384xf32> loc("y")
    return %0 : tensor<?x16384xf32>
  }
  func.func @step(%x: tensor<?x16384xf32> {td.input = "x"}) -> (tensor<?x16384xf32> {td.output = "y"}) {
    %r = exec.map_microbatches (%x : tensor<?x16384xf32>) reduce [keep] scope [replica]
        lanes 8 rows 8 microbatch 8 -> (tensor<?x16384xf32>) {
    ^bb0(%xs: tensor<?x16384xf32>):
      %a = exec.launch @neg(%xs) : (tensor<?x16384xf32>) -> tensor<?x16384xf32>
      exec.yield %a : tensor<?x16384xf32>
    }
    return %r : tensor<?x16384xf32>
  }
}
