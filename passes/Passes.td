// The compiler's passes: one record each, of which declarations, registration and docs/reference/passes.md are made. They are
// listed in the order of the phases (phases.cc) that run them.
#ifndef TANDEM_PASSES_PASSES
#define TANDEM_PASSES_PASSES

include "mlir/Pass/PassBase.td"

defvar OurDialects = ["td::TdDialect", "exec::ExecDialect"];

class ModulePass<string argument> : Pass<argument, "mlir::ModuleOp"> { let dependentDialects = OurDialects; }

// What must hold at the end of a phase; a violation is a bug of the compiler, reported with the op.
class VerifyPhasePass<string phase> : ModulePass<"td-verify-" # phase> {
  let summary = "Checks what must hold at the end of phase " # phase;
}

// Phase input

def DropCrossReplicaPass : ModulePass<"td-drop-cross-replica"> {
  let summary = "Takes td.cross_replica out of programs for one replica";
  let description = [{
    With one replica there is nothing to combine. Programs for several replicas are unchanged, and so are those with a
    `part` (td-partition-step): parameter servers, which have one device, take theirs of the same step as workers.

    ```
    %s = td.cross_replica mean %m   =>   %m
    ```
  }];
}

def LiftVariablesPass : ModulePass<"td-lift-variables"> {
  let summary = "Makes the step a pure function";
  let description = [{
    Inputs, step scalars and variable reads of @main become arguments, assignments and outputs become results, and the
    function is renamed @step. Before: the form that GraphBuilder leaves (docs/developers/internals.md). After: @step holds no
    td.input, td.scalar, td.read, td.assign or td.output; an argument or result says by an attribute what it stands for.

    ```
    func.func @main() {                              func.func @step(%w: tensor<4xf32> {td.variable = @w})
      %w = td.read @w : tensor<4xf32>                    -> (tensor<4xf32> {td.update = @w}) {
      %v = td.neg %w : tensor<4xf32>            =>     %v = td.neg %w : tensor<4xf32>
      td.assign @w, %v : tensor<4xf32>                 return %v : tensor<4xf32>
      return                                         }
    }
    ```
  }];
}

def WarnBatchConstantsPass : ModulePass<"td-warn-batch-constants"> {
  let summary = "Points at sums over the batch that the user scales by a constant 1 / batch";
  let description = [{
    Changes nothing: the constant keeps its meaning. Such a mean is wrong for a short last batch, and with the batch per
    replica as the constant it is `replicas` times too large. The warning names the user's line and the way out
    (ReduceMean).

    ```
    %s = td.reduce sum, %l axes [0] ; %m = td.mul %s, 0.015625   // batch 64: warning
    ```
  }];
}

def PartitionStepPass : ModulePass<"td-partition-step"> {
  let summary = "Keeps what one task of a cluster with parameter servers computes of the step";
  let description = [{
    Does nothing without `part` in exec.config. Variables are placed by PlaceVariables (graph/parameter_servers.h), which
    may spread the rows of a large one over servers where its update is computed element by element; exec.placement says
    where all are. Of such a variable each server has a part of its own name, "table[0:500]", and workers send it these
    rows of the gradient. A server computes what only updates of its variables read, as far back as neither rows of the batch nor variables of
    other servers are needed; the worker computes the rest. What goes from one to the other is an output of the worker's
    program and a variable of the server's, both of the name SentValueName: gradients as a rule, their common factor
    where they are clipped by a global norm. What is made of step scalars and constants alone is computed by each that
    needs it. A worker reads variables as it last got them, a server its own as they are. What changes in every step
    though the part does not update it is marked: nothing that follows from it is invariant.

    ```
    // servers = 1
    %g = td.matmul %x, %dy {transpose_a} ; %v = td.apply_sgd %w, %g, %lr ; return %v {td.update = @w}
    // the worker
    %g = td.matmul %x, %dy {transpose_a} ; return %g {td.output = "ps0/0/MatMul"}
    // the server
    %v = td.apply_sgd %w, %arg {td.variable = @"ps0/0/MatMul"}, %lr ; return %v {td.update = @w}
    ```
  }];
}

def VerifyInputPass : VerifyPhasePass<"input"> {
  let description = [{
    @step exists, has a right signature (step_signature.h) and is pure: no td.input, td.scalar, td.read, td.assign or
    td.output is left. No update or output differs between replicas (graph/ir/replica_values.h).
  }];
}

// Phase precision

def FormAttentionPass : ModulePass<"td-form-attention"> {
  let summary = "Makes attention one op where its scores would not stay in a cache";
  let description = [{
    Before: a pure @step in float32. After: products of queries and keys, perhaps scaled and masked, their softmax and
    its products with values are one td.attention, and what the gradient is made of is one td.attention_grad, which
    computes the weights again: what is in memory grows with the sequence, not with its square. The ops are found
    whoever wrote them, layers::MultiHeadAttention or a model of its own (passes/attention/attention_pattern.h says
    which); with dropout of the weights they stay apart. So they do where the scores of one example, 4 heads x queries x
    keys bytes, fit into a core's second-level cache: products by the library are faster then.

    For targets whose kernels of attention take heads of few numbers (GPUs: up to 128) this happens whatever the
    sequence, since launches and traffic are what it saves. In mixed_bfloat16 the user's lists may keep batch_matmul,
    attention or attention_grad from bfloat16: such targets keep products and a softmax then. Where float32 operands may
    be rounded to TensorFloat-32, the ops say so.

    ```
    %x = td.batch_matmul %q, %k {transpose_b}       // [b, heads, queries, keys]
    %w = td.softmax (td.mul %x, 0.125)         =>   %y, %m, %s = td.attention %q, %k, %v {scale = 0.125}
    %y = td.batch_matmul %w, %v
    ```
  }];
}

def FoldBatchNormPass : ModulePass<"td-fold-batch-norm"> {
  let summary = "Gives multiplications and additions per channel, as batch norm with moving averages has them, to the "
                # "kernel and the bias of the convolution or matmul beside them";
  let description = [{
    Before: a pure @step without types chosen by td-paint-precision, so that the scaled kernel is rounded once. After:
    no chain of td.add, td.sub, td.mul and td.div by one value per channel (or one for all channels) stands behind a
    td.conv2d or td.matmul whose only use it is, nor in front of one that is its only use, if all its values and the
    kernel are invariant: made of constants and of variables that the program does not update. What is left to add is
    one bias, which becomes the epilogue of whatever computes the contraction. The runtime computes kernel and bias when
    a variable has changed, not in every step (td-mark-invariants): where a step updates the variables it would be one
    more pass over them, and nothing is folded. In front of a padded convolution only factors are: the padding is of
    zeros, which a sum would have to leave out.

    ```
    %y = td.conv2d %x, %w                      %s = td.broadcast %scale dims [3]       // no batch: once
    %c = td.sub %y, td.broadcast %mean         %k = td.mul %w, %s
    %d = td.mul %c, td.broadcast %scale   =>   %t = td.add (td.mul (td.neg %mean), %scale), %beta
    %z = td.add %d, td.broadcast %beta         %y = td.conv2d %x, %k
                                               %z = td.add %y, td.broadcast %t
    ```

    Rounding differs, so that nothing changes with precision strict_float32. GPU programs compute what is invariant
    in every step, and are left as they are.
  }];
}

def ChooseContractionsPass : ModulePass<"td-choose-contractions"> {
  let summary = "Chooses how every matrix product, every convolution and their gradients are computed";
  let description = [{
    The one place that decides it. Before: ops that implement LibraryOp. After: each has exec.contraction, which later
    passes read. The candidates are the files of passes/contraction: each says whether it can compute the op on the
    target, how long that is expected to take by the machine model, and why another one is expected to be faster. The
    first that is expected to gain is taken, else a call of the kernel library, whose own algorithms td-select-libraries
    chooses once the call is known.

    The pass runs in three phases, each time with what is known by then. In `precision` it says which convolutions are
    parts of generated kernels, in float32. In `distribute` element types are final, and how rows are cut is estimated:
    what leaves the maps is decided for good, and the choice of microbatches reads the rest. In `layout` microbatches
    are known. exec.contractions on the module has what was found out about every candidate: tandem-dump --contractions
    shows it. `TANDEM_FLAGS=--choose=NAME:ALGORITHM` overrides the choice where the algorithm is able to compute the op.

    ```
    %y = td.conv2d %x, %k   =>   %y = td.conv2d %x, %k {exec.contraction = #exec.contraction<algorithm = winograd, ...>}
    ```
  }];
}

def PaintPrecisionPass : ModulePass<"td-paint-precision"> {
  let summary = "Chooses where float32 becomes bfloat16 with precision mixed_bfloat16";
  let description = [{
    Before: a pure @step. After: the operands and results of painted ops are bfloat16, with a td.cast where a value
    meets an op of the other kind, one per value. Arguments and results of the step keep their types: variables, inputs
    and outputs are float32 for the user. With another precision nothing changes. How ops are chosen:
    precision_painter.h.

    ```
    %y = td.conv2d %x, %w ...  : f32          %xb = td.cast %x : f32 -> bf16    %wb = td.cast %w : f32 -> bf16
    %z = td.relu %y            : f32    =>    %y = td.conv2d %xb, %wb ... : bf16
    %s = td.reduce sum %z      : f32          %z = td.relu %y             : bf16
                                              %s = td.reduce sum (td.cast %z : bf16 -> f32)
    ```

    A painted op that can keep its float32 accumulator (matmul, convolution) does so where all that reads it is float32
    and storing it costs little: gradients of weights, logits. What td-choose-contractions gives to generated
    kernels stays float32: products with one column or one inner element, and on a CPU convolutions of few taps, up
    to the value that a painted op reads.
  }];
}

def VerifyPrecisionPass : VerifyPhasePass<"precision"> {
  let description = [{
    As td-verify-input.
  }];
}

// Phase distribute

def DecomposePass : ModulePass<"td-decompose"> {
  let summary = "Takes composite ops apart";
  let description = [{
    Before: ops that implement DecomposeOp (softmax, cross-entropy, batch moments). After: elementwise ops, reductions
    and index maps only, under the composite op's location, so that fusion sees one kind of thing and batch moments
    become reductions over the batch.

    ```
    %y = td.log_softmax %x   =>   max, sub, exp, sum, log, sub
    ```
  }];
}

def SumMomentsAtOncePass : ModulePass<"td-sum-moments-at-once"> {
  let summary = "Reads a batch once for its mean and its variance";
  let description = [{
    Before: td.batch_moments, which become two passes over memory: the mean, then the squared deviations from it. After:
    where the target adds up doubles as fast as it reads memory (GPUs for data centres), both are made of the sums of
    the elements and of their squares, in doubles: an element's square is exact there, and no digits are lost unless a
    channel's mean is some hundred thousand times its deviation, where the elements themselves have lost them. One
    kernel has both sums, and one collective adds them up over devices.

    ```
    %m, %v = td.batch_moments %x, %n   =>   %d = td.cast %x to f64, sums of %d and of %d * %d, each divided by the
                                            number of elements: the mean, and what less its square is the variance
    ```
  }];
}

def ExpandContractionsPass : ModulePass<"td-expand-contractions"> {
  let summary = "Carries out the choices that must be before maps are formed";
  let description = [{
    Before: decomposed ops with exec.contraction, no maps. After: products that are hardly any work (fused_product) are
    multiplications and sums, and weight gradients that are computed block by block (weight_grad_blocks) are
    exec.contraction, which will stand behind the maps.

    ```
    %y = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x1xf32>
      =>   td.reshape %w to [4], td.broadcast, td.mul with %x, td.reduce sum axes [1], td.reshape to [?, 1]
    %dw = td.matmul %x, %dy {transpose_a = true} : tensor<?x1024xf32>, tensor<?x1024xf32> -> tensor<1024x1024xf32>
      =>   %dw = exec.contraction matmul %x, %dy by weight_grad_blocks
    ```
  }];
}

def RecordPoolArgmaxPass : ModulePass<"td-record-pool-argmax"> {
  let summary = "Max pooling notes where its maxima lie, in a byte each, for its gradient";
  let description = [{
    Before: no maps, since batch statistics part a pooling from its gradient; td.max_pool_grad looks for the maxima in
    the image again. After: where the pooling itself is in the same block, a td.max_pool_argmax beside it (one kernel
    with it after fusion) and a td.max_pool_argmax_grad in place of the gradient, which does not read the image. A relu
    before the pooling passes the gradient where the image is above 0; at the place that takes the gradient, that is
    where the maximum is. So its mask goes into the places too, and nothing behind the pooling needs the image. A relu
    that only poolings read moves behind them, to fewer elements: the maximum of rectified values is the rectified
    maximum, and places with the mask are the same.

    ```
    %x = td.relu %z                              %p = td.max_pool %z
    %y = td.max_pool %x                          %y = td.relu %p
    ...                                          %k = td.max_pool_argmax %z {positive = true}
    %g = td.max_pool_grad %x, %dy         =>     ...
    %m = td.compare gt, %x, 0                    %r = td.max_pool_argmax_grad %k, %dy
    %r = td.select %m, %g, 0
    ```
  }];
}

def FormMicrobatchMapPass : ModulePass<"td-form-microbatch-map"> {
  let summary = "Gathers all work on batched values into exec.map_microbatches regions";
  let description = [{
    Before: a pure @step. After: every op with a batched operand or result is inside a map (BatchAxis gives the number
    of maps: one, plus one for every reduction over the batch whose result flows back into batched values, as batch-norm
    statistics do). Values that cross from one map to another or leave the step stay batched ("keep"), sums over the
    batch become reductions over the lanes. Constants and values made from nothing (dropout masks, ones) are repeated
    where they are used. The numbers of lanes and rows of a microbatch come from expected times (microbatch_sizes.h) and
    are a function of the model, the global batch and the target, so that results do not depend on the number of devices
    or threads; exec.microbatch_choice says what was weighed. For GPUs there is one lane and microbatch per replica. An
    op that mixes rows forces one lane and one microbatch per replica, which a warning says. An op that reads all rows
    at once (the gradient of an embedding) stays outside, behind the map that keeps its operands.

    ```
    func.func @step(%x: tensor<?x4xf32>) -> tensor<4xf32> {
      %0 = td.relu %x : tensor<?x4xf32>
      %1 = td.reduce sum %0 ...
      return %1
    }
    =>
    %1 = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum] scope [global] lanes 8 rows 16 microbatch 16 ->
    (tensor<4xf32>) { ^bb0(%xs: tensor<?x4xf32>): %0 = td.relu %xs ...  %1 = td.reduce sum %0 ...  exec.yield %1 }
    ```
  }];
}

def RematerializePass : ModulePass<"td-rematerialize"> {
  let summary = "Computes cheap values again in the maps that read them, instead of keeping them";
  let description = [{
    Before: maps are formed; a value that one map makes and another reads is kept for the whole batch.
    After: a kept value that a few cheap elementwise ops make from values which lie in memory anyway is no result of its
    map any more: every map that reads it has these ops itself, where they mostly become part of its kernels. Keeping
    costs a pass over memory to write and one to read, computing only the read. Values come from their own ops on the
    same operands, so no bit changes.

    A kept value that such ops make from one smaller batched value is kept as that one in any case: of mixed precision,
    bfloat16 and not the float32 that it is widened to and scaled in.

    Without a memory limit only values with one batched source are taken, and only where no source lives longer for it
    or takes more room. With a memory_limit (bytes) values of more sources follow, until variables, sums and kept
    values are expected to fit: a residual network then keeps every other block's sum. Whether all fits is
    td-assign-buffers' to say.

    ```
    %a:2 = exec.map_microbatches (%x) ... { %c = td.conv2d ...  %y = td.relu %c  exec.yield %c, %y }
    %b = exec.map_microbatches (%a#1) ... { ^bb0(%ys): %d = td.conv2d_filter_grad %ys, ... }
    =>
    %a = exec.map_microbatches (%x) ... { %c = td.conv2d ...  %y = td.relu %c  exec.yield %c }
    %b = exec.map_microbatches (%a) ... { ^bb0(%cs): %y = td.relu %cs  %d = td.conv2d_filter_grad %y, ... }
    ```
  }];
}

def InsertAllReducePass : ModulePass<"td-insert-all-reduce"> {
  let summary = "Makes every value that must agree on all replicas agree";
  let description = [{
    Before: maps over microbatches reduce over the lanes of one replica, and td.cross_replica stands where a value of
    one replica becomes one of all. After: with more than one replica, each global sum or maximum, of a map or of an op
    that reads all rows of a replica, is followed by a exec.all_reduce, and every td.cross_replica is one. Those of
    td.cross_replica wait for the first op that reads one of them, so that they stand side by side for the next pass,
    which makes buckets; those that serve updates and outputs alone come last, with what is made of them. With one replica
    td.cross_replica is its operand. `names` of an all-reduce says what the tensor is: a gradient of the variable whose
    update is the nearest that it flows into through values of as many elements, the update of a variable, or else the op
    that computes it.

    ```
    %g = exec.map_microbatches ... reduce [sum] scope [global]      =>   %g = exec.map_microbatches ...
    %v = td.apply_sgd %w, %g, %rate                                  %r = exec.all_reduce sum %g {names = ["gradient of w"]}
    return %v  // td.update = @w                                     %v = td.apply_sgd %w, %r, %rate ; return %v
    %s = td.cross_replica mean %m                               =>   %s = exec.all_reduce mean %m
    ```
  }];
}

def BucketAllReducePass : ModulePass<"td-bucket-all-reduce"> {
  let summary = "Puts neighbouring all-reduces of one kind and element type into buckets";
  let description = [{
    Before: one exec.all_reduce per tensor, in the order in which the backward pass makes them ready. After: runs of
    independent all-reduces are one variadic op each, filled up to bucket_bytes (25 MiB), the first of a step up to
    first_bucket_bytes (1 MiB) so that communication can start early. An all-reduce that depends on another one is
    never in its bucket. A tensor larger than the limit has a bucket of its own. Names are kept.

    ```
    %a = exec.all_reduce sum %0 ; %b = exec.all_reduce sum %1   =>   %a, %b = exec.all_reduce sum %0, %1 {bucket = 0}
    ```
  }];
}

def InsertFiniteCheckPass : ModulePass<"td-insert-finite-check"> {
  let summary = "No update of a variable happens in a step whose loss or gradients are not finite";
  let description = [{
    Before: a step with maps, collectives and updates. After: one exec.check_finite over the floating-point sums of
    the maps that updates and the output "loss" are computed from (gradients, losses, statistics) and the values of
    td.check_finite, which are no results of the step any more, behind the last map and collective that it needs, and
    every op that serves an update and no map stands behind the check. What a map needs too stays before it;
    td-insert-copies then lets a copy at the end of the step write the variable. Other outputs are only watched: they may
    be infinite or NaN. Steps that update nothing (evaluation) get no check, but for a worker's part of a step, whose
    results go into updates of parameter servers.
  }];
}

def NumberCollectivesPass : ModulePass<"td-number-collectives"> {
  let summary = "Gives every collective its place in the one order that all replicas follow";
  let description = [{
    Before: exec.all_reduce ops of one step body. After: each has `seq` (0, 1, ... in program order) and `group` (all
    replicas), sums and means also `algorithm`, the cross-device ops of exec.config where it names some. Bodies of
    different device classes are made from this one after the numbering, so that the order is equal on all ranks by
    construction. td-form-fusions may change it, so that they are numbered once more behind it.
  }];
}

def ReplicatePass : ModulePass<"td-replicate"> {
  let summary = "One exec.replica symbol per device, all of a class pointing to one step body";
  let description = [{
    Before: @step and the devices of exec.config. After: @replica_0, @replica_1, ... in the order of the devices.
    The body is not copied: replicas of a class run the same program.

    ```
    #exec.config<devices = ["cpu:0", "cpu:1"]>   =>   exec.replica @replica_0 device("cpu:0") body(@step)
                                                                   exec.replica @replica_1 device("cpu:1") body(@step)
    ```
  }];
}

def VerifyDistributePass : VerifyPhasePass<"distribute"> {
  let description = [{
    Also: batched values are only inside maps (or "keep" results and arguments); collectives are numbered from 0; every
    replica's body exists; nothing but exec.all_reduce reads one replica's part of a sum over all, and td.cross_replica is
    gone.
  }];
}

// Phase layout

def LowerContractionsPass : ModulePass<"td-lower-contractions"> {
  let summary = "Carries out the choices of generated kernels inside the maps";
  let description = [{
    Before: td ops with the attribute exec.contraction in maps. After: convolutions of few taps or few channels (few_taps,
    low_channel) and bfloat16 filter gradients of CPUs with a matrix unit (filter_grad_tiles) are ops exec.contraction, and
    those by Winograd's algorithm (winograd) exec.winograd ops with the tile that was chosen, their kernels transformed
    at the top of the step and a bias, a residual and a relu that only they feed as their epilogue.

    ```
    %y = td.conv2d %x, %k         =>      %y = exec.contraction conv2d %x, %k by few_taps

    %y = td.conv2d %x, %k ...             %u = exec.winograd_kernel %k {tile = 4}          // at the top level
    %b = td.broadcast %bias        =>     %y, %scratch = exec.winograd_conv2d %x, %u, %bias {tile = 4, block = 36, relu}
    %z = td.add %y, %b
    %r = td.relu %z
    ```
  }];
}

def LowerAttentionPass : ModulePass<"td-lower-attention"> {
  let summary = "Gives attention the memory that its kernel works in";
  let description = [{
    Before: td.attention and td.attention_grad in maps. After, on CPUs: exec.attention and exec.attention_grad, with
    scratch memory as a further result. Kernels for GPUs keep in registers what they work with: the ops stay as they are.

    ```
    %y, %m, %s = td.attention %q, %k, %v   =>   %y, %m, %s, %scratch = exec.attention %q, %k, %v
    ```
  }];
}

def SelectLibrariesPass : ModulePass<"td-select-libraries"> {
  let summary = "Gives convolutions and matmuls to kernel libraries, with their epilogues, and packs weights once per "
                # "step";
  let description = [{
    Before: ops that implement LibraryOp. After: exec.library_call. A bias, a residual and a relu that only such an op
    feeds become its epilogue; the call writes its result over the residual, which nothing may need any more (CPU).
    Where the library wants weights in a layout of its own, a pack_weights call stands at the top of the step, in front
    of the map, so that it runs once per step and device and not once per microbatch. Operands that maps then no longer
    read are taken off them, or weights would still be rounded to bfloat16 for nobody.

    ```
    %y = td.conv2d %x, %w         =>   %p = exec.library_call(%w) #exec.pack_weights<...>  // at the top level
    %b = td.broadcast %bias            %r = exec.library_call(%x, %p, %bias) #exec.conv2d<...>
    %z = td.add %y, %b                         <epilogue = <bias = true, activation = relu>>
    %r = td.relu %z
    ```

    Large matrices that few rows are multiplied with stay as they are: a kernel of our own reads them (unpacked_gemm.h).
    With bfloat16 operands the weights go to pack_weights as float32, and a bias stays float32. For GPUs matrix products
    go to cuBLASLt, which takes weights as they are, and convolutions to cuDNN: their kernels are packed to its layout,
    which is the same forward and backward, so that a step transposes each of them once. There a bias has the type of
    the result.
  }];
}

def TakeGpuEpiloguesPass : ModulePass<"td-take-gpu-epilogues"> {
  let summary = "Gives what surrounds matrix products to cuBLASLt: GELU, the gradients of relu and GELU, and the "
                # "gradients of biases";
  let description = [{
    Before: td-select-libraries has made calls of matrix products, for GPUs. After: what follows a product and would be
    a pass of its own over memory is the product's epilogue where cuBLASLt has one. GELU in its tanh form, with the bias
    before it: where the backward pass needs what GELU was applied to, the call gives that too; but then only if nothing
    but library calls reads the result, because a kernel that reads it could compute it. The gradient of relu behind a
    product, when the relu is the epilogue of another product: that one writes a bit per element. The gradient of GELU
    (td.gelu_grad) behind a product. The sum over the rows of such a gradient, which is that of a bias; and the sum over
    the rows of an operand of a weight gradient, where the operand comes from a library or from outside: a kernel that
    makes it sums it up as well. Sums are taken in float32 only, where cuBLASLt keeps them in that. The erf form of GELU
    stays with generated kernels.

    ```
    %d = exec.library_call(%dz, %w) #exec.matmul<...>
    %m = td.compare gt, %y, 0
    %r = td.select %m, %d, 0
    %s = td.reduce sum, %r axes [0]
    =>
    %y, %mask = exec.library_call(...) #exec.matmul<... epilogue = <activation = relu, saves = true>>
    %r, %s = exec.library_call(%dz, %w, %mask)
        #exec.matmul<... epilogue = <activation = relu, gradient = true, sums = y>>
    ```
  }];
}

def VerifyLayoutPass : VerifyPhasePass<"layout"> {
  let description = [{
    Also: no op with a library primitive is left outside exec.library_call.
  }];
}

// Phase fusion

def OutlineContractionsPass : ModulePass<"td-outline-contractions"> {
  let summary = "Makes each contraction with an emitter of its own a kernel";
  let description = [{
    Before: what td-expand-contractions and td-lower-contractions made. After: each of these ops is in a private
    func.func, which exec.launch runs where the op was. Nothing else fuses with them.
    - exec.attention and td.attention with their gradients, exec.winograd ops and exec.contraction by filter_grad_tiles:
      the kind is tile (rows of a microbatch) or, for the transform of a kernel, split (parts of the kernel). Their
      epilogues are theirs already.
    - exec.contraction by weight_grad_blocks: the kind is block. They say how many lanes of how many rows they sum up,
      which is known now.
    - exec.contraction by low_channel, with its bias and relu where these are its only uses. A kernel that fuses writes
      all taps out for one element, which is profitable for few; these have an emitter of their own
      (passes/codegen/direct_conv_kernel.cc).

    ```
    %y, %scratch = exec.winograd_conv2d %x, %u ...   =>   %y, %scratch = exec.launch @winograd(%x, %u)
    %y = exec.contraction conv2d %x, %k by low_channel ...; %b = td.broadcast %bias dims [3]; %z = td.add %y, %b; %r = td.relu %z
      =>   %r = exec.launch @direct_conv(%x, %k, %bias)
    ```
  }];
}

def FormFusionsPass : ModulePass<"td-form-fusions"> {
  let summary = "Groups the ElementalOps of each block into clusters, one kernel function and exec.launch per cluster";
  let description = [{
    Before: library ops have been selected; blocks of functions and exec.map_microbatches hold td ops.
    After: every ElementalOp lies in a private func.func `fusion_N` (no name order is promised), launched where it was;
    left in the blocks are launches, library ops, collectives, constants and reshapes that are mere views.
    How clusters are chosen: fusion_clusters.h. Why neighbours are in one kernel or not: explain_fusion.h.

    ```
    %0 = td.broadcast %b dims [1] : tensor<8xf32> -> tensor<?x8xf32>
    %1 = td.add %x, %0 : tensor<?x8xf32>                               %2 = exec.launch @fusion_0(%b, %x)
    %2 = td.relu %1 : tensor<?x8xf32>                           =>     func.func private @fusion_0(...) {
                                                                         td.broadcast, td.add, td.relu, return }
    ```
  }];
  let dependentDialects = OurDialects # ["mlir::func::FuncDialect"];
}

def OutlineKernelsPass : ModulePass<"td-outline-kernels"> {
  let summary = "Sets the kinds of kernels, flattens elementwise ones without batch, and keeps one function of "
                # "several equal ones";
  let description = [{
    Before: td-form-fusions has run. After: kernels are named `kernel_N` in the order of their first launch, carry
    `exec.kernel` = loop | row | col | flat | once (docs/developers/internals.md), and no two differ in nothing but locations. A
    launch of a kernel whose values have another user's names has the names of its own results in exec.names. A flat
    kernel takes `tensor<?xT>` in place of the shape, so that updates of variables of any size share one kernel; scalars
    stay rank 0.

    ```
    func.func private @fusion_4(%v: tensor<784x64xf32>, %g: tensor<784x64xf32>, %lr: tensor<f32>) ...
    =>
    func.func private @kernel_2(%v: tensor<?xf32>, %g: tensor<?xf32>, %lr: tensor<f32>) attributes {exec.kernel = #exec.kernel_kind<flat>}
    ```
  }];
}

def FuseSumEpiloguesPass : ModulePass<"td-fuse-sum-epilogues"> {
  let summary = "Computes what follows from sums over the batch in the kernel that adds them up";
  let description = [{
    Before: a map whose kernels sum over the batch, and behind it launches of elementwise kernels on the sums: the mean
    of a column, its reciprocal standard deviation. After: their ops are in the kernel with the sums, and their results
    are results of the map; the last block to add up a column goes on with them. On targets whose launches are costly,
    which have all rows of a replica in one microbatch. Not for kernels that read sums of several launches in that map,
    or that update variables: updates are grouped.

    ```
    %s = exec.map_microbatches(%x) {...                 %s, %m = exec.map_microbatches(%x, %n) {...
      %0 = exec.launch @sum(%x)                   =>      %0:2 = exec.launch @sum(%x, %n)
      exec.yield %0 }                                     exec.yield %0#0, %0#1 }
    %m = exec.launch @mean(%s, %n)
    ```
  }];
}

def GroupUpdatesPass : ModulePass<"td-group-updates"> {
  let summary = "Runs all launches of one flat kernel as a single command";
  let description = [{
    Before: one launch per variable (an optimizer update each), behind the finite check. After: launches of the same
    flat kernel that do not depend on each other are one exec.grouped_launch, whose work the runtime splits over threads
    across the members: one dispatch instead of one per variable. On targets whose launches are costly also what is
    computed from variables alone, such as their values in bfloat16.

    ```
    %a = exec.launch @sgd(%w0, %g0, %lr)    =>   %a, %b = exec.grouped_launch @sgd x 2(%w0, %g0, %lr, %w1, %g1, %lr)
    %b = exec.launch @sgd(%w1, %g1, %lr)
    ```
  }];
}

def VerifyFusionPass : VerifyPhasePass<"fusion"> {
  let description = [{
    Also: only launches, library calls, collectives, checks, copies, views (reshapes), maps and constants are left.
  }];
}

// Phase schedule

def SchedulePass : ModulePass<"td-schedule"> {
  let summary = "Chooses the order of the ops in every map body";
  let description = [{
    Before: any topological order. After: list scheduling that, among the ops whose operands are there, takes the one
    that adds the least live memory (bytes of its results minus bytes of the operands that die), the earlier one in
    program order on a tie. The arena of a microbatch is what a thread keeps in its cache, so less live memory is faster
    as well as smaller. The top level keeps program order: collectives in sequence, the finite check before the updates.
  }];
}

def VerifySchedulePass : VerifyPhasePass<"schedule"> {
  let description = [{
    As td-verify-fusion.
  }];
}

// Phase memory

def InsertCopiesPass : ModulePass<"td-insert-copies"> {
  let summary = "Copies values that are wanted in a place where nothing can write them";
  let description = [{
    Before: a scheduled step of launches, library calls, maps, collectives, copies and constants, in which every value is
    wanted wherever it is read. After: what td-assign-buffers takes for granted and does not check, by an exec.copy
    where it was not so. This pass cannot be switched off.

    - an output is not a step scalar, a variable or a constant itself;
    - a command computes the update of a variable, nothing else reads it, and nothing behind that command reads the old
      value: the update can be written straight over the variable. The launch of a flat kernel may read it itself;
    - nothing behind a command reads an operand that it writes over;
    - a map yields every value once, and commands of its body compute them.

    ```
    return %v, %w {td.update = @w, td.update = @v}   =>   %0 = exec.copy %v   %1 = exec.copy %w
                                                          %2 = exec.copy %0   %3 = exec.copy %1
                                                          return %2, %3
    ```
  }];
}

def AssignBuffersPass : ModulePass<"td-assign-buffers"> {
  let summary = "Gives every value a place in one of the arenas";
  let description = [{
    Before: what td-insert-copies leaves. After: module and ops carry these attributes for the serialiser:

    ```
    module              exec.buffers = [{name, space, index | offset, bytes, row_bytes, type}, ...]
                        exec.arenas = {microbatch, lane, step, batch: bytes}
                        exec.peaks = [{space, bytes, live = [{name, bytes}, ...]}, ...]
    ops that compute    exec.out = [buffer per result]
    exec.map_microbatches       exec.args = [buffer per operand], exec.lane_slots = [[buffer, kind], ...]
    arguments of @step  exec.buffer = id
    ```

    Arguments lie where the runtime put them; a value that a map reduces over the lanes is written straight into the
    lane's slot, a kept one straight into the batch arena (kept values share it by life time, as all that crosses maps
    of a model with batch statistics is there), an update straight over its variable. Everything else shares the
    microbatch arena (inside maps; one per thread) or the step arena (top level) by life time. On a CPU, what is
    computed from variables alone that the program does not write shares its place with nothing, so that it need not be
    computed in every step (td-mark-invariants). What every device computes alike, from variables and constants, is
    `common`.

    A GPU program has one lane per device and one microbatch per lane, so there is nothing to sum up: what a map reduces
    goes straight to the step arena, and there are no slots.
  }];
}

def SeparateAliasesPass : ModulePass<"td-separate-aliases"> {
  let summary = "Makes a kernel for every pattern of results that overwrite operands";
  let description = [{
    Before: td-assign-buffers has run. After: every kernel that is launched says in `exec.alias` which operand's buffer
    each of its results has, or -1. It is compiled for that, so a kernel whose launches differ in it is there several
    times.

    ```
    %0 = exec.launch @sgd(%w, %g) {exec.out = array<i64: 1>}   // %w has buffer 1
    %1 = exec.launch @sgd(%v, %h) {exec.out = array<i64: 9>}   // %v has buffer 2
    =>
    %0 = exec.launch @sgd(%w, %g)     // exec.alias = array<i64: 0>
    %1 = exec.launch @sgd_1(%v, %h)   // exec.alias = array<i64: -1>
    ```
  }];
}

def CheckMemoryPass : ModulePass<"td-check-memory"> {
  let summary = "Refuses a program that takes more memory than the user allows";
  let description = [{
    Before: td-assign-buffers has run. After: the same. With a memory_limit (bytes for a device) the sum of variables,
    step arena, batch arena, the slots of the device's lanes, and an arena and a slot for each of kNominalThreads
    threads is compared with it (a GPU has one microbatch arena and no slots); an error names the largest parts and
    buffers. What the machine has is of no concern: a program that compiles does so anywhere.
  }];
}

def VerifyMemoryPass : VerifyPhasePass<"memory"> {
  let description = [{
    Also: every op and argument has its buffers.
  }];
}

// Phase commands

def InsertLaneReductionsPass : ModulePass<"td-insert-lane-reductions"> {
  let summary = "Combines the lanes' slots by commands of their own";
  let description = [{
    Before: buffers are assigned, and the results of a map stand for what its lanes are combined to. After: a sum or
    maximum that a map of a CPU program yields is read by one exec.lane_reduce for each kind right behind the map, whose
    results have the places in the step arena; the map's own results are the slots.

    ```
    %m:2 = exec.map_microbatches ... reduce [sum, keep] {exec.out = [7, 3]}
    use(%m#0)
      =>
    %m:2 = exec.map_microbatches ... reduce [sum, keep] {exec.out = [5, 3]}       // 5: the lane's slot
    %s = exec.lane_reduce sum %m#0 {exec.out = [7]}
    use(%s)
    ```
  }];
}

def MarkInvariantsPass : ModulePass<"td-mark-invariants"> {
  let summary = "Marks commands that need not run in every step";
  let description = [{
    Sets `invariant` of a command outside of maps whose operands are constants, variables that the program does not
    update, and what invariant commands compute, if its results are still there in the next step: nothing else writes to
    their places, or none but invariant commands read or write there. The runtime runs them when a variable may have
    changed: packed weights and transformed kernels of layers that are not trained, and of all layers when a program
    evaluates or predicts.

    ```
    %p = exec.library_call(%w) #exec.pack_weights<...> by library
        {exec.execution = #exec.execution<invariant = true>, ...}
    ```
  }];
}

def MarkInlinePass : ModulePass<"td-mark-inline"> {
  let summary = "Marks commands with too little work to wake a thread for, and programs of nothing else";
  let description = [{
    Sets `run_inline` of maps and of commands outside of maps by the number of elements that they read. Where all are
    so, there are few of them, and each is a call or a handful of calls whose addresses are known beforehand, the module
    gets `exec.flat`: the runtime makes one list of calls of it, because what goes on around each command in a general
    step takes longer than such commands do.
  }];
}

def JoinLanesPass : ModulePass<"td-join-lanes"> {
  let summary = "Lets neighbouring lanes share products with a large matrix";
  let description = [{
    Where the lanes of a map are one microbatch each, two of them become one task (`lanes_together`) if it has products
    of few rows by a matrix that is read where it lies: these are computed once for the rows of both (`joint`), so that
    the matrix comes to the core once; every other command runs for one lane and then for the next. Lanes are there for
    their sums, which have the same bits on any number of devices; a product's row depends on that row alone, so no bit
    changes. A runtime with too few lanes for its threads, and lanes whose rows are not all there, run one by one.
  }];
}

def GroupPreparationsPass : ModulePass<"td-group-preparations"> {
  let summary = "Lets packings and transforms of weights run at the same time";
  let description = [{
    Sets `together` of the first of several commands in a row that pack weights or compute element by element, each
    worth a thread, and none of which touches what another one writes: one loop over the tasks of all, instead of a
    barrier behind each. They are all invariant or none is.
  }];
}

def UpdateByBlocksPass : ModulePass<"td-update-by-blocks"> {
  let summary = "Applies weight gradients block by block";
  let description = [{
    Before: the launch of a kernel of kind "block" computes a weight gradient; exec.check_finite and one member of an
    exec.grouped_launch read it, and nothing else does. After: the launch has the attribute `exec.block_update`, which
    says where: a block of the gradient goes from its kernel to the optimizer's while it is in the core's cache, and the
    gradient as a whole is never stored. The check comes first, so it cannot look at such a gradient; the runtime
    replaces it by a bound on the products' operands, and runs the three commands as they stand where that does not
    hold. For programs on one device.

    ```
    %g = exec.launch @block(%x, %dy) {exec.block_update = #exec.block_update<check = 0, member = 0, argument = 1,
                                                                            fetched = [0, 2]>}
    exec.check_finite %g
    %v = exec.grouped_launch @update x 1(%w, %g)
    ```
  }];
}

def CheckInReductionsPass : ModulePass<"td-check-in-reductions"> {
  let summary = "Looks for values that are not finite where they are added up";
  let description = [{
    Sets `checks` of an exec.all_reduce whose results an exec.check_finite reads, all of them: its values are looked at
    as they are combined, while they are in a cache. The check itself then looks at the rest of its operands only, and
    ends the step for all of them. Where the devices add up by cross-device ops of the user it looks at all.
  }];
}

def OverlapCollectivesPass : ModulePass<"td-overlap-collectives"> {
  let summary = "Lets values travel between processes while commands run that do not need them";
  let description = [{
    Sets `overlap` of an exec.all_reduce: so many commands behind it, up to the first that touches what it touches, may
    run while other processes are sent its values. Small kernels that read a result, and that nothing before the finite
    check needs, are moved in front of the check, out of the way of the commands that compute gradients. An all-reduce
    that only little work follows is left alone, as is one by cross-device ops of the user. Where all devices are of one
    process there is nothing that travels, and the attribute means nothing.
  }];
}

def VerifyCommandsPass : VerifyPhasePass<"commands"> {
  let description = [{
    Also: a map's sums and maxima are read by exec.lane_reduce alone, commands that run together stand one behind the
    other, no command that an all-reduce overlaps with touches its operands, and what a gradient's `exec.block_update` names exists.
  }];
}

#endif  // TANDEM_PASSES_PASSES
