// Attributes of the exec dialect: what a program is compiled for, kinds of kernels and reductions, places in memory.
#ifndef TANDEM_PASSES_EXEC_ATTRIBUTES
#define TANDEM_PASSES_EXEC_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "passes/exec/exec_base.td"

class Exec_Attr<string name, string mnemonic_> : AttrDef<Exec_Dialect, name> { let mnemonic = mnemonic_; }

class Exec_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tandem::exec";
  let genSpecializedAttr = 0;
}

//===- Kernels ----------------------------------------------------------------------------------------------------===//

def Exec_KernelKind : Exec_Enum<"KernelKind", "what a kernel runs over, and how (docs/developers/internals.md)", [
  I32EnumAttrCase<"kCluster", 0, "cluster">,  // fused, and not yet looked at by td-outline-kernels
  I32EnumAttrCase<"kLoop", 1, "loop">,        // elementwise over the rows of a batch
  I32EnumAttrCase<"kRow", 2, "row">,          // reductions within a row
  I32EnumAttrCase<"kCol", 3, "col">,          // sums over the rows
  I32EnumAttrCase<"kFlat", 4, "flat">,        // elementwise over any number of elements, without rows
  I32EnumAttrCase<"kOnce", 5, "once">,        // as a whole
  I32EnumAttrCase<"kTile", 6, "tile">,        // an algorithm of its own, over the rows of a batch
  I32EnumAttrCase<"kSplit", 7, "split">,      // the same over the elements of one tensor
  I32EnumAttrCase<"kBlock", 8, "block">,      // the same over blocks of the result's rows
]>;
def Exec_KernelKindAttr : EnumAttr<Exec_Dialect, Exec_KernelKind, "kernel_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

//===- Reductions -------------------------------------------------------------------------------------------------===//

def Exec_ReduceKind : Exec_Enum<"ReduceKind", "how values of lanes or replicas are combined", [
  I32EnumAttrCase<"kSum", 0, "sum">,
  I32EnumAttrCase<"kMax", 1, "max">,
  I32EnumAttrCase<"kMean", 2, "mean">,  // over the replicas that have rows
]>;
def Exec_ReduceKindAttr : EnumAttr<Exec_Dialect, Exec_ReduceKind, "reduce_kind"> { let assemblyFormat = "$value"; }

def Exec_Combine : Exec_Enum<"Combine", "what a map makes of its microbatches' results", [
  I32EnumAttrCase<"kSum", 0, "sum">,
  I32EnumAttrCase<"kMax", 1, "max">,
  I32EnumAttrCase<"kKeep", 2, "keep">,  // the rows side by side
]>;
def Exec_CombineAttr : EnumAttr<Exec_Dialect, Exec_Combine, "combine"> { let assemblyFormat = "`<` $value `>`"; }

//===- Memory -----------------------------------------------------------------------------------------------------===//

def Exec_Space : Exec_Enum<"Space", "where a buffer lives: Space of runtime/executable.fbs", [
  I32EnumAttrCase<"kVariable", 0, "variable">,
  I32EnumAttrCase<"kInput", 1, "input">,
  I32EnumAttrCase<"kScalar", 2, "scalar">,
  I32EnumAttrCase<"kBatch", 3, "batch">,
  I32EnumAttrCase<"kLane", 4, "lane">,
  I32EnumAttrCase<"kMicrobatch", 5, "microbatch">,
  I32EnumAttrCase<"kStep", 6, "step">,
  I32EnumAttrCase<"kConstant", 7, "constant">,
]>;

def Exec_BufferAttr : Exec_Attr<"Buffer", "buffer"> {
  let summary = "a value's place in memory";
  let description = [{
    `index` counts variables, inputs and scalars; `offset` and `bytes` are places in an arena, where a batched value takes
    `row_bytes` for each row.
    ```mlir
    #exec.buffer<name = "dense/MatMul", space = microbatch, offset = 512, bytes = 320, row_bytes = 40, type = tensor<?x10xf32>>
    ```
    `common`: every device computes the same there, from variables and constants alone.
  }];
  let parameters = (ins
    StringRefParameter<"of the value, for reports">:$name, EnumParameter<Exec_Space>:$space,
    DefaultValuedParameter<"int64_t", "0">:$index, DefaultValuedParameter<"int64_t", "0">:$offset,
    DefaultValuedParameter<"int64_t", "0">:$bytes, DefaultValuedParameter<"int64_t", "0">:$row_bytes,
    DefaultValuedParameter<"bool", "false">:$common, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LaneSlotAttr : Exec_Attr<"LaneSlot", "lane_slot"> {
  let summary = "a buffer of every lane that td-assign-buffers gave to a result of a map";
  let parameters = (ins "int64_t":$buffer, EnumParameter<Exec_ReduceKind>:$kind);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_ArenasAttr : Exec_Attr<"Arenas", "arenas"> {
  let summary = "bytes of a program's arenas";
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$microbatch, DefaultValuedParameter<"int64_t", "0">:$lane,
    DefaultValuedParameter<"int64_t", "0">:$step, DefaultValuedParameter<"int64_t", "0">:$batch,
    DefaultValuedParameter<"int64_t", "0">:$constant);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveBufferAttr : Exec_Attr<"LiveBuffer", "live_buffer"> {
  let summary = "a buffer that is in use where an arena is fullest";
  let parameters = (ins StringRefParameter<"of the value">:$name, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_PeakAttr : Exec_Attr<"Peak", "peak"> {
  let summary = "the size of an arena, and its largest buffers where it is fullest";
  let parameters = (ins EnumParameter<Exec_Space>:$space, "int64_t":$bytes, "::mlir::ArrayAttr":$live);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===- Commands ---------------------------------------------------------------------------------------------------===//

def Exec_ExecutionAttr : Exec_Attr<"Execution", "execution"> {
  let summary = "how a command of a CPU program runs: phase `commands` decides, the runtime does it";
  let description = [{
    - `invariant`: its results stay what they are until a variable changes that the program does not write; the command
      runs when one may have changed.
    - `run_inline`: too little work to wake a thread for. Of a map: in all lanes together.
    - `together`: this command and so many less one behind it run at the same time.
    - `lanes_together`: of a map: so many neighbouring lanes are one task of a thread that has no fewer.
    - `joint`: of a library call in such a map: one call for the rows of all those lanes.
    - `overlap`: of an all-reduce: what it tells other processes may go on while so many commands behind it run.
    ```mlir
    %0 = exec.library_call "pack_weights" (%w) {exec.execution = #exec.execution<invariant = true, together = 3>, ...} : ...
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"bool", "false">:$invariant, DefaultValuedParameter<"bool", "false">:$run_inline,
    DefaultValuedParameter<"int64_t", "1">:$together, DefaultValuedParameter<"int64_t", "1">:$lanes_together,
    DefaultValuedParameter<"bool", "false">:$joint, DefaultValuedParameter<"int64_t", "0">:$overlap);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_BlockUpdateAttr : Exec_Attr<"BlockUpdate", "block_update"> {
  let summary = "a gradient that is applied block by block (docs/developers/internals.md)";
  let description = [{
    Of the launch that computes the gradient. It is operand `check` of the finite check, and argument `argument` of
    member `member` of the grouped launch that updates the variable: arguments are a member's operands, then its
    results. `fetched`: arguments of the same shape that the update touches beside it.
    ```mlir
    #exec.block_update<check = 2, member = 0, argument = 1, fetched = [0, 2]>
    ```
  }];
  let parameters = (ins "int64_t":$check, "int64_t":$member, "int64_t":$argument, "::mlir::DenseI64ArrayAttr":$fetched);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===- Library calls ----------------------------------------------------------------------------------------------===//

def Exec_Direction : Exec_Enum<"Direction", "of a convolution: Direction of runtime/executable.fbs", [
  I32EnumAttrCase<"kForward", 0, "forward">,
  I32EnumAttrCase<"kInputGrad", 1, "input_grad">,
  I32EnumAttrCase<"kFilterGrad", 2, "filter_grad">,
]>;

def Exec_Activation : Exec_Enum<"Activation", "of an epilogue: Activation of runtime/executable.fbs", [
  I32EnumAttrCase<"kNone", 0, "none">,
  I32EnumAttrCase<"kRelu", 1, "relu">,
  I32EnumAttrCase<"kGelu", 2, "gelu">,  // the tanh form
]>;

def Exec_Summed : Exec_Enum<"Summed", "what an epilogue sums up: Summed of runtime/executable.fbs", [
  I32EnumAttrCase<"kNone", 0, "none">,
  I32EnumAttrCase<"kY", 1, "y">,
  I32EnumAttrCase<"kA", 2, "a">,
  I32EnumAttrCase<"kB", 3, "b">,
]>;

def Exec_EpilogueAttr : Exec_Attr<"Epilogue", "epilogue"> {
  let summary = "what a call does with its product before it is stored: Epilogue of runtime/executable.fbs";
  let description = [{
    ```mlir
    #exec.epilogue<bias = true, activation = relu>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"bool", "false">:$bias, DefaultValuedParameter<"bool", "false">:$residual,
    DefaultValuedParameter<"::tandem::exec::Activation", "::tandem::exec::Activation::kNone">:$activation,
    DefaultValuedParameter<"bool", "false">:$saves, DefaultValuedParameter<"bool", "false">:$gradient,
    DefaultValuedParameter<"::tandem::exec::Summed", "::tandem::exec::Summed::kNone">:$sums);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_Algorithm : Exec_Enum<"Algorithm", "how a contraction is computed: the candidates of passes/contraction", [
  // Of a library call: Algorithm of runtime/executable.fbs.
  I32EnumAttrCase<"kLibrary", 0, "library">,
  I32EnumAttrCase<"kUnpackedGemm", 1, "unpacked_gemm">,
  I32EnumAttrCase<"kDirectFilterGrad", 2, "direct_filter_grad">,
  I32EnumAttrCase<"kPointwiseProduct", 3, "pointwise_product">,
  I32EnumAttrCase<"kDensePointwise", 4, "dense_pointwise">,
  I32EnumAttrCase<"kPackPanels", 5, "pack_panels">,
  // Of generated kernels.
  I32EnumAttrCase<"kFusedProduct", 16, "fused_product">,
  I32EnumAttrCase<"kGeneratedLoop", 17, "generated_loop">,
  I32EnumAttrCase<"kFewTaps", 18, "few_taps">,
  I32EnumAttrCase<"kLowChannel", 19, "low_channel">,
  I32EnumAttrCase<"kWeightGradBlocks", 20, "weight_grad_blocks">,
  I32EnumAttrCase<"kFilterGradTiles", 21, "filter_grad_tiles">,
  I32EnumAttrCase<"kWinograd", 22, "winograd">,
  I32EnumAttrCase<"kSingleChannel", 23, "single_channel">,
]>;

def Exec_AlgorithmAttr : EnumAttr<Exec_Dialect, Exec_Algorithm, "algorithm"> { let assemblyFormat = "$value"; }

def Exec_ContractionAttr : Exec_Attr<"Contraction", "contraction"> {
  let summary = "how a contraction is computed: td-choose-contractions decides, everything else reads it";
  let description = [{
    `tile`, `block`: of Winograd's algorithm, pixels of a tile and tiles of a block; 0: any. `forced`: TANDEM_FLAGS says
    so, whatever is expected of others.
    ```mlir
    %y = td.conv2d %x, %k ... {exec.contraction = #exec.contraction<algorithm = winograd, tile = 4, block = 36>} : ...
    ```
  }];
  let parameters = (ins EnumParameter<Exec_Algorithm>:$algorithm,
    DefaultValuedParameter<"int64_t", "0">:$tile, DefaultValuedParameter<"int64_t", "0">:$block,
    DefaultValuedParameter<"bool", "false">:$forced);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_VerdictAttr : Exec_Attr<"Verdict", "verdict"> {
  let summary = "what td-choose-contractions found out about one way to compute a contraction";
  let description = [{
    `nanoseconds`: expected for a microbatch; 0: there is no estimate. `why_not`: empty of the one that is taken.
  }];
  let parameters = (ins "::tandem::exec::ContractionAttr":$contraction,
    DefaultValuedParameter<"int64_t", "0">:$nanoseconds, StringRefParameter<"why it is not taken">:$why_not);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_ContractionReportAttr : Exec_Attr<"ContractionReport", "contraction_report"> {
  let summary = "all ways to compute a contraction, in the order in which they were asked";
  let description = [{
    `rows`: of a microbatch. `verdicts`: #exec.verdict.
  }];
  let parameters = (ins StringRefParameter<"scoped name">:$name, StringRefParameter<"op name">:$op, "int64_t":$rows,
    "::mlir::ArrayAttr":$verdicts);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_ContractionOverrideAttr : Exec_Attr<"ContractionOverride", "contraction_override"> {
  let summary = "how TANDEM_FLAGS=--choose=NAME:ALGORITHM wants contractions of that name to be computed";
  let parameters = (ins StringRefParameter<"scoped name, of an op or a layer; *: all">:$name,
    "::tandem::exec::ContractionAttr":$contraction);
  let assemblyFormat = "`<` struct(params) `>`";
}

// What libraries compute: the tables of LibraryOperation in runtime/executable.fbs. Sizes are for a full microbatch. A
// type that is left out is f32.
def Exec_OptionalSizes : OptionalParameter<"::mlir::DenseI64ArrayAttr">;
def Exec_OptionalType : OptionalParameter<"::mlir::Type">;
def Exec_Flag : DefaultValuedParameter<"bool", "false">;

def Exec_Conv2DAttr : Exec_Attr<"Conv2D", "conv2d"> {
  let summary = "a convolution or a gradient of one, as a library call computes it: Conv2D of runtime/executable.fbs";
  let description = [{
    ```mlir
    #exec.conv2d<direction = input_grad, x_shape = [8, 13, 13, 32], kernel_shape = [3, 3, 32, 64],
                 y_shape = [8, 11, 11, 64], strides = [1, 1], pad_low = [0, 0], pad_high = [0, 0], packed = true>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"::tandem::exec::Direction", "::tandem::exec::Direction::kForward">:$direction,
    Exec_OptionalSizes:$x_shape, Exec_OptionalSizes:$kernel_shape, Exec_OptionalSizes:$y_shape,
    Exec_OptionalType:$x_dtype, Exec_OptionalType:$kernel_dtype, Exec_OptionalType:$y_dtype,
    Exec_OptionalSizes:$strides, Exec_OptionalSizes:$pad_low, Exec_OptionalSizes:$pad_high,
    Exec_Flag:$packed, OptionalParameter<"::tandem::exec::EpilogueAttr">:$epilogue);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_MatMulAttr : Exec_Attr<"MatMul", "matmul"> {
  let summary = "a matrix product, as a library call computes it: MatMul of runtime/executable.fbs";
  let description = [{
    ```mlir
    #exec.matmul<a_shape = [8, 64], b_shape = [64, 10], y_shape = [8, 10], epilogue = <bias = true>>
    ```
  }];
  let parameters = (ins
    Exec_OptionalSizes:$a_shape, Exec_OptionalSizes:$b_shape, Exec_OptionalSizes:$y_shape,
    Exec_OptionalType:$a_dtype, Exec_OptionalType:$b_dtype, Exec_OptionalType:$y_dtype,
    Exec_Flag:$transpose_a, Exec_Flag:$transpose_b, Exec_Flag:$packed, Exec_Flag:$reduces_batch,
    OptionalParameter<"::tandem::exec::EpilogueAttr">:$epilogue);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_BatchMatMulAttr : Exec_Attr<"BatchMatMul", "batch_matmul"> {
  let summary = "products of many matrices, as a library call computes them: BatchMatMul of runtime/executable.fbs";
  let parameters = (ins
    Exec_OptionalSizes:$a_shape, Exec_OptionalSizes:$b_shape, Exec_OptionalSizes:$y_shape,
    Exec_OptionalType:$a_dtype, Exec_OptionalType:$b_dtype, Exec_OptionalType:$y_dtype,
    Exec_Flag:$transpose_a, Exec_Flag:$transpose_b, Exec_Flag:$swap_a, Exec_Flag:$swap_b, Exec_Flag:$swap_y);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_PackWeightsAttr : Exec_Attr<"PackWeights", "pack_weights"> {
  let summary = "a change of weights into the layout of a library call: PackWeights of runtime/executable.fbs";
  let description = [{
    `reader` is the #exec.conv2d or #exec.matmul that reads them.
    ```mlir
    #exec.pack_weights<reader = #exec.matmul<a_shape = [8, 64], b_shape = [64, 10], y_shape = [8, 10], packed = true>>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::Attribute">:$reader, Exec_OptionalType:$plain_dtype);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===- Reports ----------------------------------------------------------------------------------------------------===//

def Exec_FusionDecisionAttr : Exec_Attr<"FusionDecision", "fusion_decision"> {
  let summary = "whether two ops are one kernel, and if not, why";
  let parameters = (ins
    StringRefParameter<"op name">:$producer_op, StringRefParameter<"scoped name">:$producer,
    StringRefParameter<"op name">:$consumer_op, StringRefParameter<"scoped name">:$consumer,
    StringRefParameter<"why they are apart, empty: they are not">:$why);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_PrecisionDecisionAttr : Exec_Attr<"PrecisionDecision", "precision_decision"> {
  let summary = "the precision that td-paint-precision chose for an op, and why";
  let parameters = (ins
    StringRefParameter<"op name">:$op, StringRefParameter<"scoped name">:$name,
    StringRefParameter<"float32 or bfloat16">:$precision, StringRefParameter<"why">:$why);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===- What a program is compiled for -----------------------------------------------------------------------------===//

def Exec_Backend : Exec_Enum<"Backend", "what runs a program", [
  I32EnumAttrCase<"kCpu", 0, "cpu">,
  I32EnumAttrCase<"kCuda", 1, "cuda">,
]>;

def Exec_TargetAttr : Exec_Attr<"Target", "target"> {
  let summary = "the processor that a program is for";
  let description = [{
    `vector_bits`: of a CPU's registers; 512 stands for AVX-512 (F, BW, DQ and VL). `sm`: ten times the compute capability that plans of GPU libraries are made for. `bfloat16_products`,
    `bfloat16_tiles`: generated kernels of a CPU may multiply bfloat16 numbers, pairs of them in vectors, or tiles (AMX).
    ```mlir
    #exec.target<backend = cuda, sm = 90>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"::tandem::exec::Backend", "::tandem::exec::Backend::kCpu">:$backend,
    DefaultValuedParameter<"int64_t", "0">:$sm,
    DefaultValuedParameter<"int64_t", "512">:$vector_bits,
    DefaultValuedParameter<"bool", "false">:$bfloat16_products, DefaultValuedParameter<"bool", "false">:$bfloat16_tiles);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_PrecisionListsAttr : Exec_Attr<"PrecisionLists", "precision_lists"> {
  let summary = "ops that the user moved to another list of mixed precision, by their names";
  let parameters = (ins
    OptionalParameter<"::mlir::ArrayAttr">:$allow, OptionalParameter<"::mlir::ArrayAttr">:$infer,
    OptionalParameter<"::mlir::ArrayAttr">:$clear, OptionalParameter<"::mlir::ArrayAttr">:$deny);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_PrecisionParameter : DefaultValuedParameter<"::tandem::Precision", "::tandem::Precision::kFloat32"> {
  let parser = "::tandem::exec::ParsePrecision($_parser)";
  let printer = "::tandem::exec::PrintPrecision($_printer, $_self)";
}

def Exec_PartAttr : Exec_Attr<"Part", "part"> {
  let summary = "what one task of a cluster with parameter servers computes of a step (td-partition-step)";
  let description = [{
    `servers`: how many there are. `server`: the part of this one; -1: of a worker.
    ```mlir
    #exec.part<servers = 2, server = 0>
    ```
  }];
  let parameters = (ins "int64_t":$servers, DefaultValuedParameter<"int64_t", "-1">:$server);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_PlacedPartAttr : Exec_Attr<"PlacedPart", "placed_part"> {
  let summary = "which parameter server keeps a variable, or some rows of it (graph/parameter_servers.h)";
  let description = [{
    A module with `part` in its configuration lists those of all variables as exec.placement. `rows` 0: the whole
    variable.
    ```mlir
    #exec.placed_part<variable = "table", server = 1, first_row = 500, rows = 500>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$variable, "int64_t":$server,
                        DefaultValuedParameter<"int64_t", "0">:$first_row,
                        DefaultValuedParameter<"int64_t", "0">:$rows);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_CompileConfigAttr : Exec_Attr<"CompileConfig", "config"> {
  let summary = "what steers the passes: the attribute exec.config of the module";
  let description = [{
    - `mode`: "train", "eval" or "predict".
    - `devices`: one replica each; none stands for one CPU.
    - `batch`: rows of a replica; `lanes`: of the global batch; `microbatch_rows`: of a microbatch; 0:
      td-form-microbatch-map chooses.
    - `precision`, `precision_lists`, `tf32` (products of TensorFloat-32 on GPUs).
    - `memory_limit`: bytes for a device; 0: none. `guard_buffers`: no two values share memory, and unused bytes follow.
    - `bucket_bytes`, `first_bucket_bytes`: bytes of an all-reduce.
    - `machine_model`: the name of a built-in one (generic-avx512), or the text of the user's.
    - `choices`: #exec.contraction_override of some contractions.
    - `part`: #exec.part of a cluster with parameter servers; none: the whole step.
    - `cross_device_ops`: the name of those that combine the replicas' values (base/cross_device_ops.h).
    - `communication_type`: that of float32 gradients while replicas are combined; none: their own.

    A parameter that is left out, or a module without the attribute, has the values of passes/exec/dialect.h, or zero,
    false and none; no pass has values of its own.
    ```mlir
    module attributes {exec.config = #exec.config<batch = 64, devices = ["cpu:0", "cpu:1"]>} { ... }
    ```
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::StringAttr">:$mode,
    OptionalParameter<"::mlir::ArrayAttr">:$devices,
    DefaultValuedParameter<"int64_t", "::tandem::exec::kDefaultBatch">:$batch,
    DefaultValuedParameter<"int64_t", "0">:$lanes,
    DefaultValuedParameter<"int64_t", "0">:$microbatch_rows,
    Exec_PrecisionParameter:$precision,
    OptionalParameter<"::tandem::exec::PrecisionListsAttr">:$precision_lists,
    DefaultValuedParameter<"bool", "false">:$tf32,
    DefaultValuedParameter<"int64_t", "0">:$memory_limit,
    DefaultValuedParameter<"bool", "false">:$guard_buffers,
    DefaultValuedParameter<"int64_t", "::tandem::exec::kDefaultBucketBytes">:$bucket_bytes,
    DefaultValuedParameter<"int64_t", "::tandem::exec::kDefaultFirstBucketBytes">:$first_bucket_bytes,
    OptionalParameter<"::mlir::StringAttr">:$machine_model,
    OptionalParameter<"::tandem::exec::TargetAttr">:$target,
    OptionalParameter<"::mlir::ArrayAttr">:$choices,
    OptionalParameter<"::tandem::exec::PartAttr">:$part,
    OptionalParameter<"::mlir::StringAttr">:$cross_device_ops,
    OptionalParameter<"::mlir::Type">:$communication_type);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    // That of `module`, or one of defaults only.
    static CompileConfigAttr of(::mlir::ModuleOp module);
    int64_t getReplicas() const;
    // A model's name or text.
    ::llvm::StringRef getMachineModelName() const;
    bool isStrictFloat32() const { return getPrecision() == ::tandem::Precision::kStrictFloat32; }
    // The same for another target.
    CompileConfigAttr withTarget(TargetAttr target) const;
  }];
}

#endif
