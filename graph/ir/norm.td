// Softmax, cross-entropy, batch moments and layer norm: composite ops that fall apart into elementwise ops and reductions.
include "graph/ir/attributes.td"
include "graph/ir/td_base.td"

class Td_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Td_PureOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
        DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_DecomposeOp>]>;

class Td_SameTypeCompositeOp<string mnemonic>
    : Td_Op<mnemonic, [
        Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
        DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_DecomposeOp>]> {
  let hasVerifier = 1;
}

def Td_SoftmaxOp : Td_SameTypeCompositeOp<"softmax"> {
  let summary = "exp(x) / sum(exp(x)) over the last axis";
  let description = [{
    The largest element is subtracted first, so that nothing overflows.
    ```mlir
    %p = td.softmax %logits : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$logits);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$logits attr-dict `:` type($logits)";
}

def Td_LogSoftmaxOp : Td_SameTypeCompositeOp<"log_softmax"> {
  let summary = "x - log(sum(exp(x))) over the last axis";
  let description = [{
    The largest element is subtracted first, so that nothing overflows.
    ```mlir
    %l = td.log_softmax %logits : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$logits);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$logits attr-dict `:` type($logits)";
}

def Td_SoftmaxCrossEntropyOp : Td_CompositeOp<"softmax_cross_entropy"> {
  let summary = "-sum(labels * log_softmax(logits)) per example";
  let description = [{
    labels are probabilities or one-hot. Their gradient is -log_softmax(logits), and 0 for a class
    whose logit is -inf.
    ```mlir
    %l = td.softmax_cross_entropy %labels, %logits : tensor<?x10xf32>, tensor<?x10xf32> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$labels, Td_FloatTensor:$logits);
  let results = (outs Td_FloatTensor:$loss);
  let assemblyFormat = "$labels `,` $logits attr-dict `:` type($labels) `,` type($logits) `->` type($loss)";
}

def Td_SparseSoftmaxCrossEntropyOp : Td_CompositeOp<"sparse_softmax_cross_entropy"> {
  let summary = "-log_softmax(logits)[label] per example";
  let description = [{
    A label outside of [0, classes) has the loss NaN, so that the finite check stops a step with labels that the model
    computed wrongly; the estimator refuses such labels of the input before the step.
    ```mlir
    %l = td.sparse_softmax_cross_entropy %labels, %logits : tensor<?xi64>, tensor<?x10xf32> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Td_IntTensor:$labels, Td_FloatTensor:$logits);
  let results = (outs Td_FloatTensor:$loss);
  let assemblyFormat = "$labels `,` $logits attr-dict `:` type($labels) `,` type($logits) `->` type($loss)";
}

def Td_BatchMomentsOp : Td_CompositeOp<"batch_moments"> {
  let summary = "mean and biased variance over all axes but the last";
  let description = [{
    Over the rows of one replica (`scope` replica) or of all (global); `count` is their number, a scalar. The variance
    is the mean of the squared deviations from the mean: two passes over the input, or one that adds up doubles
    (td-sum-moments-at-once).
    ```mlir
    %mean, %variance = td.batch_moments %x, %count scope replica : tensor<?x8x8x32xf32>, tensor<f32> -> tensor<32xf32>, tensor<32xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$input, Td_FloatTensor:$count, Td_BatchScopeAttr:$scope);
  let results = (outs Td_FloatTensor:$mean, Td_FloatTensor:$variance);
  let assemblyFormat = "$input `,` $count `scope` $scope attr-dict `:` type($input) `,` type($count) `->` type($mean) `,` type($variance)";
}

def Td_LayerNormOp : Td_CompositeOp<"layer_norm"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) over the last axis";
  let description = [{
    The second result is 1 / sqrt(variance + epsilon). The variance is the biased one, the mean of the squared deviations
    from the mean: two passes, so that a large mean costs no digits (Ba, Kiros and Hinton 2016, without gain and bias).
    ```mlir
    %y, %r = td.layer_norm %x epsilon 1.0e-3 : tensor<?x128x256xf32> -> tensor<?x128x256xf32>, tensor<?x128xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$input, F64Attr:$epsilon);
  let results = (outs Td_FloatTensor:$normalized, Td_FloatTensor:$inverse_deviation);
  let assemblyFormat = "$input `epsilon` $epsilon attr-dict `:` type($input) `->` type($normalized) `,` type($inverse_deviation)";
}
