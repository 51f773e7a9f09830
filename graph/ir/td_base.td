// The td dialect: a dataflow graph with value semantics. Every tensor is a builtin ranked tensor; a dynamic size (`?`)
// stands for the symbolic batch `b` and is allowed in dimension 0 only.
#ifndef TANDEM_GRAPH_IR_TD_BASE
#define TANDEM_GRAPH_IR_TD_BASE

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "graph/ir/interfaces.td"

def Td_Dialect : Dialect {
  let name = "td";
  let summary = "Dataflow graphs of model functions and their training steps";
  let cppNamespace = "::tandem::td";
  // One registration function per op family, each in its own translation unit.
  let extraClassDeclaration = [{
    void registerUnaryOps();
    void registerBinaryOps();
    void registerShapeOps();
    void registerReduceOps();
    void registerContractOps();
    void registerPoolOps();
    void registerNormOps();
    void registerRandomOps();
    void registerStateOps();
    void registerUpdateOps();
    void registerDistOps();
    void registerStructureOps();
  }];
}

class Td_Op<string mnemonic, list<Trait> traits = []> : Op<Td_Dialect, mnemonic, traits>;

// A pure op whose result types follow from its operands and attributes.
class Td_PureOp<string mnemonic, list<Trait> traits = []>
    : Td_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]>;

def Td_Tensor : RankedTensorOf<[AnyType]>;
def Td_FloatTensor : RankedTensorOf<[F32, F64]>;
def Td_IntTensor : RankedTensorOf<[I32, I64]>;
def Td_BoolTensor : RankedTensorOf<[I1]>;

#endif
