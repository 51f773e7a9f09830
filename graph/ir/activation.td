// Smooth activations and the functions that they are made of.
include "graph/ir/td_base.td"

// `expr` is the reference value of an element x, in double.
class Td_ActivationOp<string mnemonic, string expr>
    : Td_ElementwiseOp<mnemonic, [SameOperandsAndResultType, DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let arguments = (ins Td_FloatTensor:$input);
  let results = (outs Td_FloatTensor:$output);
  let reference = "for (size_t i = 0; i < r.values.size(); ++i) { double x = operands[0]->values[i]; r.values[i] = " #
                  expr # "; }";
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Td_ErfOp : Td_ActivationOp<"erf", "std::erf(x)"> {
  let summary = "error function";
  let description = "2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.\n```mlir\n%y = td.erf %x : tensor<?x3xf32>\n```";
}

def Td_GeluOp : Td_ActivationOp<"gelu", "Gelu(x, getApproximate())"> {
  let summary = "x times the normal distribution function of x";
  let description = [{
    x/2 (1 + erf(x / sqrt(2))); with `approximate` x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which differs by at most
    0.0005 (Hendrycks and Gimpel 2016).
    ```mlir
    %y = td.gelu %x {approximate = true} : tensor<?x3xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$input, DefaultValuedAttr<BoolAttr, "false">:$approximate);
}

def Td_GeluGradOp : Td_ElementwiseOp<"gelu_grad",
                                     [SameOperandsAndResultType, DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let summary = "the gradient of td.gelu";
  let description = [{
    `dy` times the slope of td.gelu at `input`, in the same form. An op of its own so that nothing but `input` is kept for the
    backward pass, and so that a library's epilogue can compute it.
    ```mlir
    %dx = td.gelu_grad %dy, %x {approximate = true} : tensor<?x3xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$dy, Td_FloatTensor:$input, DefaultValuedAttr<BoolAttr, "false">:$approximate);
  let results = (outs Td_FloatTensor:$output);
  let reference = [{
      for (size_t i = 0; i < r.values.size(); ++i) {
        r.values[i] = operands[0]->values[i] * GeluSlope(operands[1]->values[i], getApproximate());
      }
  }];
  let assemblyFormat = "$dy `,` $input attr-dict `:` type($output)";
}
