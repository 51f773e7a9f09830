// Elementwise ops with one operand.
include "graph/ir/td_base.td"

class Td_UnaryOp<string mnemonic, list<Trait> traits = []>
    : Td_Op<mnemonic, traits # [
        Pure, SameOperandsAndResultType,
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_ElementalOp>]> {
  let arguments = (ins Td_Tensor:$input);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class Td_FloatUnaryOp<string mnemonic>
    : Td_UnaryOp<mnemonic, [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let arguments = (ins Td_FloatTensor:$input);
  let results = (outs Td_FloatTensor:$output);
}

def Td_ReluOp : Td_FloatUnaryOp<"relu"> {
  let summary = "max(x, 0)";
}
