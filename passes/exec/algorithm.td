// What ops that stand for an algorithm of a td op have in common.
#ifndef TANDEM_PASSES_EXEC_ALGORITHM
#define TANDEM_PASSES_EXEC_ALGORITHM

include "graph/ir/interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "passes/exec/exec_base.td"

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

def Exec_Tensor : RankedTensorOf<[AnyType]>;
def Exec_Float32Tensor : RankedTensorOf<[F32]>;
// Of numbers that kernels compute with in float32.
def Exec_StoredFloatTensor : RankedTensorOf<[F32, BF16]>;

#endif
