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
  let useDefaultAttributePrinterParser = 1;
  // One registration function per op family, each in its own translation unit.
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerUnaryOps();
    void registerActivationOps();
    void registerBinaryOps();
    void registerShapeOps();
    void registerGatherOps();
    void registerReduceOps();
    void registerContractOps();
    void registerAttentionOps();
    void registerPoolOps();
    void registerNormOps();
    void registerRandomOps();
    void registerStateOps();
    void registerUpdateOps();
    void registerDistOps();
  }];
}

class Td_Op<string mnemonic, list<Trait> traits = []> : Op<Td_Dialect, mnemonic, traits>;

// A pure op whose result types follow from its operands and attributes.
class Td_PureOp<string mnemonic, list<Trait> traits = []>
    : Td_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]>;

def Td_Tensor : RankedTensorOf<[AnyType]>;
def Td_FloatTensor : RankedTensorOf<[F32, F64, BF16]>;
def Td_IntTensor : RankedTensorOf<[I32, I64]>;
def Td_NumericTensor : RankedTensorOf<[F32, F64, BF16, I32, I64]>;
def Td_BoolTensor : RankedTensorOf<[I1]>;

// An elementwise op whose operands and results have one shape.
class Td_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Td_Op<mnemonic, traits # [
        Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_ElementalOp>, DeclareOpInterfaceMethods<Td_CostOp>,
        DeclareOpInterfaceMethods<Td_PrecisionOp>]> {
  // A value of PrecisionRule.
  string precision = "kInfer";
  // C++ statements that leave the value for results[0] in `r`, from `operands`.
  code reference = "";
  let extraClassDefinition = [{
    ::tandem::td::BatchRule $cppClass::getBatchRule() { return ::tandem::td::BatchRule::kPerExample; }
    ::tandem::td::FusionKind $cppClass::getFusionKind() { return ::tandem::td::FusionKind::kElementwise; }
    int64_t $cppClass::getFlops() { return ::tandem::td::RowElements(getOperation()->getResult(0).getType()); }
    ::tandem::td::PrecisionRule $cppClass::getPrecisionRule() { return ::tandem::td::PrecisionRule::}] # precision # [{; }
    ::absl::Status $cppClass::evaluate(::absl::Span<const ::tandem::td::RefTensor* const> operands,
                                       const ::tandem::td::RefContext& context,
                                       ::std::vector<::tandem::td::RefTensor>& results) {
      auto r = ::tandem::td::MakeResult(getOperation()->getResult(0).getType(), context.batch);
  }] # reference # [{
      results[0] = ::std::move(r);
      return ::absl::OkStatus();
    }
  }];
}

#endif
