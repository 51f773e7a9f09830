// Attributes of the exec dialect: what a program is compiled for, kinds of kernels and reductions, places in memory.
#ifndef TANDEM_PASSES_EXEC_ATTRIBUTES
#define TANDEM_PASSES_EXEC_ATTRIBUTES

include "passes/exec/enums.td"
include "passes/exec/format.td"

//===- Kernels ----------------------------------------------------------------------------------------------------===//

def Exec_KernelKindAttr : EnumAttr<Exec_Dialect, Exec_KernelKind, "kernel_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

//===- Reductions -------------------------------------------------------------------------------------------------===//

def Exec_ReduceKindAttr : EnumAttr<Exec_Dialect, Exec_ReduceKind, "reduce_kind"> { let assemblyFormat = "$value"; }

def Exec_CombineAttr : EnumAttr<Exec_Dialect, Exec_Combine, "combine"> { let assemblyFormat = "`<` $value `>`"; }

//===- Memory -----------------------------------------------------------------------------------------------------===//

// Shown: its name, its space and its type; what else is not zero.
def Exec_BufferAttr : Exec_TableAttr<Format_Buffer, "buffer", ["space"]>;
// A buffer of every lane that td-assign-buffers gave to a result of a map.
def Exec_LaneSlotAttr : Exec_TableAttr<Format_LaneSlot, "lane_slot", ["buffer", "kind"]>;

def Exec_ArenasAttr : Exec_Attr<"Arenas", "arenas"> {
  let summary = "bytes of a program's arenas";
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$microbatch, DefaultValuedParameter<"int64_t", "0">:$lane,
    DefaultValuedParameter<"int64_t", "0">:$step, DefaultValuedParameter<"int64_t", "0">:$batch,
    DefaultValuedParameter<"int64_t", "0">:$constant);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveBufferAttr : Exec_TableAttr<Format_LiveBuffer, "live_buffer", ["bytes"]>;

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

// A type that is left out is f32.
def Exec_EpilogueAttr : Exec_TableAttr<Format_Epilogue, "epilogue">;
def Exec_Conv2DAttr : Exec_TableAttr<Format_Conv2D, "conv2d">;
def Exec_MatMulAttr : Exec_TableAttr<Format_MatMul, "matmul">;
def Exec_BatchMatMulAttr : Exec_TableAttr<Format_BatchMatMul, "batch_matmul">;
def Exec_PackWeightsAttr : Exec_TableAttr<Format_PackWeights, "pack_weights">;

def Exec_AlgorithmAttr : EnumAttr<Exec_Dialect, Exec_Algorithm, "algorithm"> { let assemblyFormat = "$value"; }

def Exec_ContractionKindAttr : EnumAttr<Exec_Dialect, Exec_ContractionKind, "contraction_kind"> {
  let assemblyFormat = "$value";
}

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

def Exec_PlacedPartAttr : Exec_TableAttr<Format_PlacedPart, "placed_part", ["server"]>;

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
