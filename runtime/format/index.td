// The index of an executable file: everything the runtime needs to run one mode of a model, and everything the dump
// tool shows. Large data (kernels, constants, IR text) lies outside, in 64-byte aligned segments after the index.
// generate.py makes from this file the C++ structs, the FlatBuffers schema and the code that converts between them;
// passes/exec/attributes.td derives the compiler's attributes from it.
// Rules: append fields and values, never renumber or reuse; every index into a table is checked by the loader.
//
// A new field: a line at the end of its table. Structs, conversions and the round-trip test follow. By hand: who writes
// it (passes/serialize), the loader's check (runtime/executable), who reads and who shows it (tools/dump), and its number
// in flatbuffer_test.cc. Old files have its default; old runtimes ignore it, so raise the version if they must not.
#ifndef TANDEM_RUNTIME_FORMAT_INDEX
#define TANDEM_RUNTIME_FORMAT_INDEX

include "runtime/format/schema.td"

//===- Memory -----------------------------------------------------------------------------------------------------===//

// "row" is a row of the batch. "(rows)": the buffer holds `row_bytes` bytes for each row.
def Format_Space : Format_Enum<"Space", "where a buffer lives", [
  Format_Case<"Variable", 0, "variable",
              "index = variable; one copy per device, owned by the variable store">,
  Format_Case<"Input", 1, "input", "index = input (rows); the replica's batch as given by the caller">,
  Format_Case<"Scalar", 2, "scalar",
              "index = step scalar; 8 bytes on the host, the same for all devices but replica_example_count, "
              "replica_index">,
  Format_Case<"Batch", 3, "batch",
              "offset into the device's batch arena (rows): values that outlive a map section, fetched tensors">,
  Format_Case<"Lane", 4, "lane",
              "offset into the lane's slot, of which there is one per lane: values that map sections sum up over "
              "microbatches">,
  Format_Case<"Microbatch", 5, "microbatch",
              "offset into the running thread's arena (rows or not): values inside one microbatch">,
  Format_Case<"Step", 6, "step", "offset into the device's step arena: values of global sections">,
  Format_Case<"Constant", 7, "constant", "offset into the constant segment">,
]>;

def Format_Buffer : Format_Table<"Buffer", "a value's place in memory"> {
  let description = [{
    ```mlir
    #exec.buffer<name = "dense/MatMul", space = microbatch, offset = 512, bytes = 320, row_bytes = 40,
                 type = tensor<?x10xf32>>
    ```
  }];
  let fields = (Format_Fields
    Format_String<"the value's name, for reports">:$name,
    Format_EnumField<Format_Space>:$space,
    Format_UInt32<"spaces Variable, Input and Scalar: the number of the variable, input or scalar">:$index,
    Format_UInt64<"spaces Batch, Lane, Microbatch, Step and Constant: bytes from the arena's start; in Batch, row r "
                  "starts at offset + r * row_bytes">:$offset,
    Format_UInt64<"capacity in bytes: a value with rows has microbatch_rows * row_bytes in Microbatch, and the "
                  "device's rows * row_bytes in Batch">:$bytes,
    Format_UInt64<"bytes of one row; 0 when the value has no batch axis">:$row_bytes,
    Format_Tensor<>:$type,
    Format_Bool<"space Step: every device computes the same value there, from variables and constants alone">:$common);
}

//===- Kernels ----------------------------------------------------------------------------------------------------===//

def Format_Domain : Format_Enum<"Domain", "what a kernel counts in its range [begin, end)", [
  Format_Case<"Rows", 0, "rows">,
  Format_Case<"Elements", 1, "elements">,
  Format_Case<"Once", 2, "once">,
  Format_Case<"Blocks", 3, "blocks">,
]>;

def Format_GpuLaunch : Format_Table<"GpuLaunch", "how a GPU runs a kernel"> {
  let description = [{
    Entry: symbol(arg_0 .. arg_n-1, i64 begin, i64 end, i64 row_offset, ptr scratch, ptr guard), all pointers to device
    memory. The grid has split * max(1, ceil((end - begin) / items_per_block)) blocks, of which block b computes its
    part of rows or elements [begin + b / split * items_per_block, ...); see runtime/commands/gpu_launch.h. The kernel does
    nothing when `guard` is not null and points to a nonzero int32: so launches behind a failed CheckFinite are skipped.
    `scratch` points to kGpuCounters int32, which are zero before and after every launch, and scratch_bytes behind them,
    where blocks leave their parts of sums, which the last block adds up.
  }];
  let fields = (Format_Fields
    Format_UInt32<"threads per block">:$block,
    Format_UInt64<"rows or elements (what the kernel's domain counts) of each block; 1 for domain Once">
      :$items_per_block,
    Format_UInt32<"bytes of dynamic shared memory">:$shared_bytes,
    Format_UInt64<"bytes of `scratch` behind the counters, at the compiled number of rows">:$scratch_bytes,
    Format_UInt32<"number of blocks that share items_per_block rows or elements", "1">:$split);
}

def Format_Extent : Format_Enum<"Extent", "which part of one of its buffers a kernel reads or writes", [
  Format_Case<"Whole", 0, "whole", "`elements` elements of a buffer without rows">,
  Format_Case<"Row", 1, "row", "`elements` elements of each row, of a batched buffer">,
  Format_Case<"Range", 2, "range",
              "the elements [begin, end) that the kernel is called for, of a buffer without rows; kernels over "
              "elements only">,
]>;
def Format_KernelArgument : Format_Table<"KernelArgument", "the part of a buffer that a kernel reads or writes"> {
  let fields = (Format_Fields
    Format_DType<>:$dtype, Format_EnumField<Format_Extent>:$extent, Format_UInt64<>:$elements);
}

def Format_Kernel : Format_Table<"Kernel", "a generated kernel"> {
  let description = [{
    Entry: void symbol(void* const* args, int64_t begin, int64_t end, int64_t row_offset).
    `args` has the buffers of the command's inputs, then of its outputs. The range depends on the domain:
    - Rows: [begin, end) are local rows of the microbatch.
    - Elements: any split of [0, count) may be run by any threads.
    - Once: begin = 0, end = 1.
    - Blocks (global sections only): any split of [0, count), which are the rows of the output (all its dimensions but
      the last; with four of them, in the order of the third, then the first two). row_offset is the number of rows of
      the replica's batch, which the kernel reads from the batched operands' first row on; args has more buffers behind
      the outputs (block_kernel.h).
  }];
  let fields = (Format_Fields
    Format_String<>:$name,
    Format_String<>:$symbol,
    Format_UInt32<"the segment with the kernel's code: an ELF object (CPU) or PTX">:$segment,
    Format_EnumField<Format_Domain>:$domain,
    Format_Strings<"the td ops in it">:$ops,
    Format_UInt32s<"indices into Debug.locations, one per op">:$locations,
    Format_UInt64<>:$flops_per_row,
    Format_String<"form of the loops: \"loop\", \"row\", \"col\", \"flat\", \"once\", \"tile\", \"split\", \"block\"">
      :$skeleton,
    Format_Optional<Format_GpuLaunch, "kernels of GPU programs only">:$gpu,
    Format_List<Format_KernelArgument, "in the order of the buffers">:$inputs,
    Format_List<Format_KernelArgument>:$outputs,
    Format_UInt64<"domains Elements and Blocks: the `count` that every launch must have; 0: a launch may count as many "
                  "elements as its Range arguments have">:$count,
    Format_UInt32<"checksum of this description and the kernel's code, by code generation: see kernel_entry.h">
      :$entry_crc32c);
}

//===- Library calls ----------------------------------------------------------------------------------------------===//
// The operations of kernel libraries; each has a file in runtime/library_calls. All sizes are for a full microbatch;
// the batch is the first size of batched tensors. Types are those of the tensors; all arithmetic is float32 whatever
// they are.

def Format_Activation : Format_Enum<"Activation", "activation of an epilogue", [
  Format_Case<"None", 0, "none">,
  Format_Case<"Relu", 1, "relu">,
  Format_Case<"Gelu", 2, "gelu", "the tanh form">,
]>;

def Format_Summed : Format_Enum<"Summed", "sums of an epilogue, in float32", [
  Format_Case<"None", 0, "none">,
  Format_Case<"Y", 1, "y", "sums over the rows of y: [n]">,
  Format_Case<"A", 2, "a", "sums of a over the dimension that the product sums up: [m]">,
  Format_Case<"B", 3, "b", "sums of b over the dimension that the product sums up: [n]">,
]>;

def Format_Epilogue : Format_Table<"Epilogue", "what a call does with its product before it is stored"> {
  let description = [{
    The parts are applied to the product p in this order. CPUs have only bias, residual and relu; the others are
    MatMul's on GPUs. Sums of y are sums of its values as stored. Not all parts go together: CheckLibraryCall of
    runtime/library_calls/library_call.h checks it.
    ```mlir
    #exec.epilogue<bias = true, activation = relu>
    ```
  }];
  let is_inline = 1;
  let fields = (Format_Fields
    Format_Bool<"adds the bias, an input [n]: float32, on GPUs of the result's type">:$bias,
    Format_Bool<"adds the residual, the last input, which has y's size and type and lies in the microbatch arena; the "
                "result replaces it: outputs[0] is that buffer. CPU programs, in map sections">:$residual,
    Format_EnumField<Format_Activation>:$activation,
    Format_Bool<"writes a second output for the backward pass: for relu a bit per element of y, set where it is "
                "positive; for GELU the values that it was applied to">:$saves,
    Format_Bool<"multiplies p by the slope of the activation, which it takes from the last input: the output that "
                "`saves` wrote">:$gradient,
    Format_EnumField<Format_Summed, "one more output">:$sums);
  let declarations = [{
    bool empty() const { return *this == Epilogue(); }
    bool relu() const { return activation == Activation::kRelu; }
    bool gelu() const { return activation == Activation::kGelu; }
    // True if there are only parts that CPUs and convolutions have: no more than a bias, a residual and a relu.
    bool is_forward() const { return !gelu() && !saves && !gradient && sums == Summed::kNone; }
    // Returns the names of the parts in their order: "bias+relu", "relu+mask", "gelu+gradient+y_sums"; "none".
    std::string Text() const;
  }];
}

def Format_Algorithm : Format_Enum<"Algorithm", "how a contraction is computed: the candidates of passes/contraction", [
  // Algorithms of library calls on CPUs. GPU programs have kLibrary: their libraries choose by themselves
  // (LibraryCall.plan).
  Format_Case<"Library", 0, "library", "a primitive of oneDNN">,
  Format_Case<"UnpackedGemm", 1, "unpacked_gemm",
              "MatMul of few float32 rows by a matrix that is read from its plain layout, not packed">,
  Format_Case<"DirectFilterGrad", 2, "direct_filter_grad",
              "a filter gradient in float32: products over listed pixels of all images, for each tap">,
  Format_Case<"PointwiseProduct", 3, "pointwise_product",
              "a filter gradient of a dense 1x1 kernel: one product over all pixels">,
  Format_Case<"DensePointwise", 4, "dense_pointwise",
              "gradients of a strided 1x1 convolution, computed as those of a dense one over the pixels that the "
              "stride reaches">,
  Format_Case<"PackPanels", 5, "pack_panels", "PackWeights by a reorder of panels">,
  // Algorithms of generated kernels: no executable names them.
  Format_Case<"FusedProduct", 16, "fused_product">,
  Format_Case<"GeneratedLoop", 17, "generated_loop">,
  Format_Case<"FewTaps", 18, "few_taps">,
  Format_Case<"LowChannel", 19, "low_channel">,
  Format_Case<"WeightGradBlocks", 20, "weight_grad_blocks">,
  Format_Case<"FilterGradTiles", 21, "filter_grad_tiles">,
  Format_Case<"Winograd", 22, "winograd">,
  Format_Case<"SingleChannel", 23, "single_channel">,
]>;

def Format_Direction : Format_Enum<"Direction", "direction of a convolution", [
  Format_Case<"Forward", 0, "forward", "inputs x, kernel [, bias] [, residual]; output y">,
  Format_Case<"InputGrad", 1, "input_grad", "inputs dy, kernel; output dx">,
  Format_Case<"FilterGrad", 2, "filter_grad",
              "inputs x, dy; output dkernel, summed over the batch: rows beyond the microbatch's are zeroed before the "
              "call">,
]>;
def Format_Conv2D
    : Format_Table<"Conv2D", "a convolution or a gradient of one, as a library call computes it"> {
  let description = [{
    - Forward: inputs x, kernel [, bias] [, residual]; output y
    - InputGrad: inputs dy, kernel; output dx
    - FilterGrad: inputs x, dy; output dkernel, summed over the batch: rows beyond the microbatch's are zeroed before
      the call
    ```mlir
    #exec.conv2d<direction = input_grad, x_shape = [8, 13, 13, 32], kernel_shape = [3, 3, 32, 64],
                 y_shape = [8, 11, 11, 64], strides = [1, 1], pad_low = [0, 0], pad_high = [0, 0], packed = true>
    ```
  }];
  let fields = (Format_Fields
    Format_EnumField<Format_Direction>:$direction,
    Format_Int64s<"NHWC; x_shape, kernel_shape and y_shape of a gradient are those of the forward convolution">
      :$x_shape,
    Format_Int64s<"HWIO; I is the number of input channels of one group">:$kernel_shape,
    Format_Int64s<"NHWC">:$y_shape,
    Format_DType<"", "Float32">:$x_dtype,
    Format_DType<"", "Float32">:$kernel_dtype,
    Format_DType<"", "Float32">:$y_dtype,
    Format_Int64s<"strides and pads are those of height and width">:$strides,
    Format_Int64s<>:$pad_low,
    Format_Int64s<>:$pad_high,
    Format_Bool<"the kernel operand is in the packed layout">:$packed,
    Format_One<Format_Epilogue, "Forward only">:$epilogue);
}

def Format_MatMul : Format_Table<"MatMul", "a matrix product, as a library call computes it"> {
  let description = [{
    Inputs a, b [, bias] [, the saved values of a gradient epilogue] [, residual]; output y = a * b with the epilogue [,
    the epilogue's other outputs]. With more than two dimensions, all but the last are rows: those of the result, or
    (transpose_a) those that are summed up.
    ```mlir
    #exec.matmul<a_shape = [8, 64], b_shape = [64, 10], y_shape = [8, 10], epilogue = <bias = true>>
    ```
  }];
  let fields = (Format_Fields
    Format_Int64s<"as stored">:$a_shape,
    Format_Int64s<"as stored">:$b_shape,
    Format_Int64s<>:$y_shape,
    Format_DType<"", "Float32">:$a_dtype,
    Format_DType<"", "Float32">:$b_dtype,
    Format_DType<"", "Float32">:$y_dtype,
    Format_Bool<>:$transpose_a,
    Format_Bool<>:$transpose_b,
    Format_Bool<"b is in the packed layout">:$packed,
    Format_Bool<"sums over rows of the batch: missing rows of a short microbatch are zeroed before the call">
      :$reduces_batch,
    Format_One<Format_Epilogue>:$epilogue);
}

def Format_BatchMatMul
    : Format_Table<"BatchMatMul", "products of many matrices, as a library call computes them"> {
  let description = [{
    Inputs a, b; output a * b for every index of the leading dimensions.
  }];
  let fields = (Format_Fields
    Format_Int64s<"as stored">:$a_shape,
    Format_Int64s<"as stored">:$b_shape,
    Format_Int64s<>:$y_shape,
    Format_DType<"", "Float32">:$a_dtype,
    Format_DType<"", "Float32">:$b_dtype,
    Format_DType<"", "Float32">:$y_dtype,
    Format_Bool<>:$transpose_a,
    Format_Bool<>:$transpose_b,
    Format_Bool<"a is stored as [..., rows, h, columns] instead of [..., h, rows, columns]; swap_b, swap_y: so is b, y">
      :$swap_a,
    Format_Bool<>:$swap_b,
    Format_Bool<>:$swap_y);
}

def Format_WeightsReader : Format_Union<"WeightsReader", [Format_Conv2D, Format_MatMul]>;
def Format_PackWeights
    : Format_Table<"PackWeights", "a conversion of weights into the layout that a library call reads"> {
  let description = [{
    The input is a kernel or matrix in the plain layout, the output the same in the layout that the call `reader` wants.
    `reader` has no epilogue: a layout does not depend on it, but on everything else in `reader`.
    ```mlir
    #exec.pack_weights<reader = #exec.matmul<a_shape = [8, 64], b_shape = [64, 10], y_shape = [8, 10], packed = true>>
    ```
  }];
  let fields = (Format_Fields
    Format_OneOf<Format_WeightsReader, "the call that reads the packed weights; its weights have the packed type">
      :$reader,
    Format_DType<"type of the plain weights", "Float32">:$plain_dtype);
}

def Format_LibraryOperation
    : Format_Union<"LibraryOperation", [Format_Conv2D, Format_MatMul, Format_BatchMatMul, Format_PackWeights]>;

//===- Commands ---------------------------------------------------------------------------------------------------===//

def Format_KernelLaunch : Format_Table<"KernelLaunch", "runs a generated kernel"> {
  let description = [{
    Runs the kernel as its domain says: over rows, over `count` elements or blocks, or once.
  }];
  let fields = (Format_Fields Format_UInt32<>:$kernel, Format_UInt64<>:$count);
}

def Format_GroupedLaunch : Format_Table<"GroupedLaunch", "updates many variables by one kernel"> {
  let description = [{
    Member i runs the kernel over counts[i] elements with args[i * num_args .. (i + 1) * num_args) (buffer indices).
    Work is split over threads by elements, across members.
    On a GPU it is one launch of the entry symbol_group(ptr members, ptr blocks, ptr guard): `members` has num_args + 2
    int64 for each member: its arguments' addresses, its count and its first block; `blocks` has an int32 for each block
    of the grid: its member. A member has as many blocks as a launch of its own would have. Where the PTX has no such
    entry, every member is a launch.
  }];
  let fields = (Format_Fields
    Format_UInt32<>:$kernel, Format_UInt32<>:$num_args, Format_UInt32s<>:$args, Format_UInt64s<>:$counts);
}

def Format_LibraryCall
    : Format_Table<"LibraryCall", "calls a kernel library (oneDNN on CPU): what it computes, and how"> {
  let fields = (Format_Fields
    Format_OneOf<Format_LibraryOperation>:$operation,
    Format_String<"the library's name for it, found at compile time, e.g. \"jit:avx512_core\"">:$implementation,
    Format_EnumField<Format_Algorithm, "CPU programs">:$algorithm,
    Format_Bool<"GPU programs: float32 operands may be rounded to TensorFloat-32">:$tf32,
    Format_UInt32<"GPU programs: 1 + the segment with the text that names cuDNN's plan (engine and settings); 0: none">
      :$plan,
    Format_UInt64<"GPU programs: bytes of workspace that the plan needs">:$workspace_bytes);
}

def Format_ReduceKind : Format_Enum<"ReduceKind", "how values of lanes or replicas are combined", [
  Format_Case<"Sum", 0, "sum">,
  Format_Case<"Max", 1, "max">,
  Format_Case<"Mean", 2, "mean", "the sum over replicas that have rows, divided by the number of these replicas">,
]>;

def Format_LaneReduce
    : Format_Table<"LaneReduce", "combines the lanes' slots in the order of the reduction tree"> {
  let description = [{
    outputs[i] = the tree of kind Sum or Max over the lanes' slots at buffer inputs[i]. Lanes without rows are left out.
  }];
  let fields = (Format_Fields Format_EnumField<Format_ReduceKind>:$kind);
}

def Format_AllReduce : Format_Table<"AllReduce", "combines the devices' step buffers in tree order"> {
  let description = [{
    Works in place: outputs[i] is inputs[i].
  }];
  let fields = (Format_Fields
    Format_UInt32<>:$collective,
    Format_EnumField<Format_ReduceKind>:$kind,
    Format_Bool<"CPU programs: also checks the combined values for NaN and infinity; the CheckFinite that reads them "
                "uses the result">:$checks);
}

def Format_CheckFinite : Format_Table<"CheckFinite", "fails the step when an input has a NaN or infinity"> {
  let description = [{
    When it fails, nothing behind it runs and no variable changes.
  }];
}

def Format_Copy : Format_Table<"Copy", "outputs[0] = inputs[0], bytewise">;

def Format_ScatterAdd : Format_Table<"ScatterAdd", "adds up rows by their indices"> {
  let description = [{
    outputs[0] [n, ...] gets the sums of the rows of inputs[0] (updates) by inputs[1] (indices, int32 or int64): row k
    is the sum of the updates with index k, over the lanes' rows in the order of the reduction tree. An index outside of
    [0, n) adds nothing. Only in global sections. Both inputs are batched, or neither is.
  }];
}

def Format_CommandBody : Format_Union<"CommandBody", [
  Format_KernelLaunch, Format_GroupedLaunch, Format_LibraryCall, Format_LaneReduce, Format_AllReduce,
  Format_CheckFinite, Format_Copy, Format_ScatterAdd,
]>;

def Format_Command : Format_Table<"Command", "an entry of a section"> {
  let fields = (Format_Fields
    Format_String<"scope and op, as the user sees it">:$name,
    Format_OneOf<Format_CommandBody>:$body,
    Format_UInt32s<"indices of buffers">:$inputs,
    Format_UInt32s<"indices of buffers">:$outputs,
    Format_UInt32<"index into Debug.locations">:$location,
    // From here to `overlap`: CPU programs only; exec::ExecutionAttr (passes/exec/attributes.td) says more.
    Format_Bool<"its results stay valid until a variable changes that the program does not write: until then it need "
                "not run again">:$invariant,
    Format_Bool<"too little work to wake a thread for: runs on the calling thread">:$run_inline,
    Format_UInt32<"number of commands, this one and those behind it, that run at the same time", "1">:$together,
    Format_Bool<"LibraryCall: one call for the rows of all lanes that run together">:$joint,
    Format_UInt32<"AllReduce: number of commands behind it in the section that may run before it is done">:$overlap);
}

def Format_BlockUpdate : Format_Table<"BlockUpdate", "a gradient that is applied block by block"> {
  let description = [{
    See runtime/cpu/run/block_updates.h. Commands are given by their index in the section.
  }];
  let fields = (Format_Fields
    Format_UInt32<"the command that computes the gradient: a launch of a kernel over blocks">:$gradient,
    Format_UInt32<"the CheckFinite command that checks the gradient">:$check,
    Format_UInt32<"which input of that command the gradient is">:$checked,
    Format_UInt32<"the GroupedLaunch command that applies the gradient">:$update,
    Format_UInt32<"the member of that launch that applies it">:$member,
    Format_UInt32<"which argument of that member the gradient is">:$argument,
    Format_UInt32s<"other arguments of that member: matrices of the gradient's size that the update touches too">
      :$fetched);
}

//===- Programs ---------------------------------------------------------------------------------------------------===//

// Map sections read all spaces but Lane and write Microbatch, Lane (declared in lane_slots) and Batch; they have only
// KernelLaunch, LibraryCall and Copy commands. Global sections read neither Microbatch nor Input, and Lane only in
// LaneReduce; they launch no kernel over rows. Only buffers in Batch and Microbatch have a batch dimension.
def Format_SectionKind : Format_Enum<"SectionKind", "how a section runs its commands", [
  Format_Case<"Map", 0, "map",
              "for every microbatch of every lane, runs all commands in order, on one thread. An output in Lane space "
              "is overwritten by the lane's first microbatch; later ones are added to it (Sum) or it becomes the "
              "maximum (Max): lane_slots has the kind">,
  Format_Case<"Global", 1, "global", "runs the commands in order, each for all devices, with a barrier after each">,
]>;
def Format_Section : Format_Table<"Section", "commands that run in one way"> {
  let fields = (Format_Fields
    Format_EnumField<Format_SectionKind>:$kind,
    Format_String<>:$name,
    Format_List<Format_Command>:$commands,
    // From here to `block_updates`: CPU programs only.
    Format_Bool<"Map: all lanes together have too little work to wake a thread for">:$run_inline,
    Format_UInt32<"Map: number of neighbouring lanes, of one microbatch each, that run as one task, where every thread "
                  "has so many", "1">:$lanes_together,
    Format_List<Format_BlockUpdate, "global sections only">:$block_updates);
}

def Format_LaneSlot : Format_Table<"LaneSlot", "a buffer of every lane in which a map section's results are combined"> {
  let fields = (Format_Fields Format_UInt32<>:$buffer, Format_EnumField<Format_ReduceKind>:$kind);
}

def Format_Stream : Format_Enum<"Stream", "stream of a GPU", [
  Format_Case<"Compute", 0, "compute">,
  Format_Case<"Communication", 1, "communication">,
]>;
def Format_GpuSegment : Format_Table<"GpuSegment", "commands on one stream of a GPU"> {
  let description = [{
    The commands are in the order of execution, which may differ from the program's where they share no memory. A
    command is given by its number: commands are counted through all sections of the program in order. All segments of a
    program are issued in order; together they hold every command exactly once.
  }];
  let fields = (Format_Fields
    Format_String<>:$name,
    Format_EnumField<Format_Stream>:$stream,
    Format_UInt32s<>:$commands,
    Format_UInt32s<"earlier segments, on other streams, whose end this one waits for">:$waits,
    Format_Bool<"recorded once as a CUDA graph, then launched as a whole">:$captured);
}
def Format_GpuProgram : Format_Table<"GpuProgram", "what a GPU's streams do"> {
  let fields = (Format_Fields
    Format_List<Format_GpuSegment>:$segments,
    Format_UInt64<"bytes of the compute stream's workspace: the most that a kernel's scratch or a library call needs">
      :$workspace_bytes);
}

def Format_Program : Format_Table<"Program", "what a replica runs"> {
  let fields = (Format_Fields
    Format_String<"\"cpu\" or \"gpu\"">:$device_class,
    Format_List<Format_Section>:$sections,
    Format_List<Format_Buffer>:$buffers,
    Format_List<Format_LaneSlot>:$lane_slots,
    Format_UInt64<>:$lane_bytes,
    Format_UInt64<"bytes of the Microbatch arena, of which there is one per thread">:$microbatch_bytes,
    Format_UInt64<"bytes of the Step arena, of which there is one per device">:$step_bytes,
    Format_UInt64<"bytes of the Batch arena, of which there is one per device">:$batch_bytes,
    Format_Optional<Format_GpuProgram, "device class \"gpu\" only; such a program has one lane per device and one "
                    "microbatch per lane">:$gpu,
    Format_Bool<"CPU programs: runs as one list of calls (runtime/cpu/step/call_list.h)">:$flat);
}

//===- The model's interface --------------------------------------------------------------------------------------===//

def Format_Initializer : Format_Table<"Initializer", "how a variable gets its first value"> {
  let fields = (Format_Fields Format_Byte<>:$kind, Format_Double<>:$a, Format_Double<>:$b);
}
def Format_Variable : Format_Table<"Variable", "a variable that the program reads or writes"> {
  let fields = (Format_Fields
    Format_String<>:$name, Format_Tensor<>:$type, Format_Bool<>:$trainable,
    Format_String<>:$slot_of, Format_One<Format_Initializer>:$initializer, Format_Bool<>:$updated);
}
def Format_Input : Format_Table<"Input", "a tensor of the batch"> {
  let fields = (Format_Fields
    Format_String<>:$name, Format_Tensor<>:$type,
    Format_UInt64<"> 0: its integers are used as indices, and must be 0 .. indices - 1. Kernels do not check them: the "
                  "caller of the session does (run.h, the estimator)">:$indices);
}
def Format_Scalar : Format_Table<"Scalar", "a number that the caller gives with every step"> {
  let fields = (Format_Fields Format_String<>:$name, Format_DType<>:$dtype);
}
def Format_Output : Format_Table<"Output", "a tensor that the caller gets"> {
  let fields = (Format_Fields
    Format_String<>:$name,
    Format_UInt32<"index of a buffer of space Step (a scalar or small value), Batch (rows) or Variable">:$buffer);
}
def Format_Replica : Format_Table<"Replica", "a device and the program that it runs"> {
  let fields = (Format_Fields Format_String<>:$name, Format_String<>:$device, Format_UInt32<>:$program);
}
def Format_Collective : Format_Table<"Collective", "a transfer that several replicas take part in"> {
  let fields = (Format_Fields
    Format_UInt32<>:$seq, Format_String<>:$kind, Format_UInt32<>:$bucket, Format_UInt64<>:$bytes, Format_DType<>:$dtype,
    Format_Strings<>:$tensors, Format_UInt32s<>:$group,
    Format_String<"CPU programs: the name of cross-device ops (base/cross_device_ops.h) that combine the values; "
                  "empty: the reduction tree does">:$algorithm);
}

//===- Segments and debugging -------------------------------------------------------------------------------------===//

def Format_SegmentKind : Format_Enum<"SegmentKind", "what a segment holds", [
  Format_Case<"ElfObject", 0, "elf_object">,
  Format_Case<"Constants", 1, "constants", "at most one segment of them">,
  Format_Case<"IrText", 2, "ir_text">,
  Format_Case<"Ptx", 3, "ptx">,
  Format_Case<"CudnnPlan", 4, "cudnn_plan">,
]>;
def Format_GpuImage : Format_Table<"GpuImage", "PTX text with all kernels of the executable"> {
  let fields = (Format_Fields
    Format_UInt32<"such as 75 or 90: the image is for GPUs of compute capability arch / 10 and newer">:$arch,
    Format_UInt32<>:$segment);
}
def Format_Segment : Format_Table<"Segment", "large data behind the index"> {
  let fields = (Format_Fields
    Format_EnumField<Format_SegmentKind>:$kind, Format_String<>:$name,
    Format_UInt64<"bytes from the start of the file">:$offset, Format_UInt64<>:$length, Format_UInt32<>:$crc32c);
}

def Format_Location : Format_Table<"Location", "a place in the user's source"> {
  let fields = (Format_Fields Format_String<>:$file, Format_UInt32<>:$line, Format_String<>:$name);
}
def Format_LiveBuffer : Format_Table<"LiveBuffer", "a buffer that is in use where an arena is fullest"> {
  let fields = (Format_Fields Format_String<"the value's name">:$name, Format_UInt64<>:$bytes);
}
def Format_MemoryReport : Format_Table<"MemoryReport", "how full an arena gets"> {
  let fields = (Format_Fields
    Format_String<>:$space, Format_UInt64<>:$peak_bytes, Format_List<Format_LiveBuffer>:$live_at_peak);
}
def Format_Debug : Format_Table<"Debug", "information for people, which no run needs"> {
  let fields = (Format_Fields Format_List<Format_Location>:$locations, Format_List<Format_MemoryReport>:$memory);
}

// The instructions that library calls and hand-written loops use on a CPU.
def Format_InstructionSet : Format_Enum<"InstructionSet", "instructions that library calls may use on a CPU", [
  Format_Case<"Any", 0, "any",
              "all that the machine has, where results do not depend on it: float32 with AVX-512 and more">,
  Format_Case<"Avx2", 1, "avx2">,
  Format_Case<"Avx512", 2, "avx512">,
  Format_Case<"Avx512BFloat16", 3, "avx512_bfloat16">,
  Format_Case<"Amx", 4, "amx">,
]>;

def Format_PlacedPart
    : Format_Table<"PlacedPart", "which parameter server keeps a variable, or some rows of it"> {
  let description = [{
    See graph/parameter_servers.h. A module with `part` in its configuration lists the parts of all variables as
    exec.placement.
    ```mlir
    #exec.placed_part<variable = "table", server = 1, first_row = 500, rows = 500>
    ```
  }];
  let fields = (Format_Fields
    Format_String<>:$variable, Format_UInt32<>:$server, Format_Int64<>:$first_row,
    Format_Int64<"number of rows; 0: the whole variable">:$rows);
}

def Format_Index : Format_Table<"Index", "one mode of a model"> {
  let fields = (Format_Fields
    Format_UInt32<"version of this format: 3">:$version,
    Format_String<"the compiler build that made the file">:$producer,
    Format_String<"key of the file in the compiler's cache">:$key,
    Format_String<"\"train\", \"eval\", \"predict\"">:$mode,
    Format_String<"what the kernels need: CPU features (\"x86-64 avx512f avx512vl ...\") or \"cuda sm_90\"">:$target,
    Format_List<Format_Program>:$programs,
    Format_List<Format_Replica>:$replicas,
    Format_List<Format_Kernel>:$kernels,
    Format_List<Format_Variable>:$variables,
    Format_List<Format_Input>:$inputs,
    Format_List<Format_Scalar>:$scalars,
    Format_List<Format_Output>:$outputs,
    Format_List<Format_Collective>:$collectives,
    Format_List<Format_Segment>:$segments,
    Format_UInt32<"lanes of all replicas together: a power of two times the odd part of the number of replicas">:$lanes,
    Format_UInt32<>:$rows_per_lane,
    Format_UInt32<"rows of one microbatch, at most rows_per_lane; a lane has ceil(rows_per_lane / microbatch_rows) "
                  "microbatches">:$microbatch_rows,
    Format_One<Format_Debug>:$debug,
    Format_List<Format_GpuImage, "device class \"gpu\" only: ascending by arch; Kernel.segment is that of the first">
      :$images,
    Format_Strings<"what the compiler had to say, with the user's file and line">:$warnings,
    Format_EnumField<Format_InstructionSet, "CPU programs: instructions of library calls; packed weights have the "
                                            "layouts for these">:$instructions,
    Format_String<"the machine model that costs were estimated with: the name of a built-in one, or a model's text">
      :$machine_model,
    Format_String<"the compiler phase whose stored graph defines what the program computes, roundings included">
      :$reference_phase,
    Format_String<"the target: \"cpu:sapphirerapids\", \"cuda:sm_90\"; for cpu:native, the CPU that it stood for">
      :$target_name,
    Format_UInt32<"number of parameter servers that share the step with workers; 0: there are none, and this program "
                  "is the whole step">:$parameter_servers,
    Format_Int32<"the number of the parameter server whose part of the step this is; -1: a worker's part", "-1">
      :$parameter_server,
    Format_List<Format_PlacedPart, "where there are parameter servers: the parts of all variables of the model">
      :$placement);
}

#endif
