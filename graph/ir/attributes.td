// Attributes of the td dialect: enumerations, which IR writes as their words alone.
#ifndef TANDEM_GRAPH_IR_ATTRIBUTES
#define TANDEM_GRAPH_IR_ATTRIBUTES

include "mlir/IR/EnumAttr.td"
include "graph/ir/td_base.td"

class Td_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tandem::td";
  let genSpecializedAttr = 0;
}

def Td_ReduceKind : Td_Enum<"ReduceKind", "how elements are combined", [
  I32EnumAttrCase<"kSum", 0, "sum">,
  I32EnumAttrCase<"kMax", 1, "max">,
  I32EnumAttrCase<"kMin", 2, "min">,
  I32EnumAttrCase<"kProd", 3, "prod">,
]>;
def Td_ReduceKindAttr : EnumAttr<Td_Dialect, Td_ReduceKind, "reduce_kind">;

def Td_BatchScope : Td_Enum<"BatchScope", "whose rows a value is made of", [
  I32EnumAttrCase<"kGlobal", 0, "global">,    // those of all replicas
  I32EnumAttrCase<"kReplica", 1, "replica">,  // those of one
]>;
def Td_BatchScopeAttr : EnumAttr<Td_Dialect, Td_BatchScope, "batch_scope">;

def Td_CrossReplicaKind : Td_Enum<"CrossReplicaKind", "how values of replicas become one", [
  I32EnumAttrCase<"kSum", 0, "sum">, I32EnumAttrCase<"kMean", 1, "mean">,  // over the replicas that have rows
]>;
def Td_CrossReplicaKindAttr : EnumAttr<Td_Dialect, Td_CrossReplicaKind, "cross_replica_kind">;

def Td_ComparePredicate : Td_Enum<"ComparePredicate", "a relation between two elements", [
  I32EnumAttrCase<"kEq", 0, "eq">,
  I32EnumAttrCase<"kNe", 1, "ne">,
  I32EnumAttrCase<"kLt", 2, "lt">,
  I32EnumAttrCase<"kLe", 3, "le">,
  I32EnumAttrCase<"kGt", 4, "gt">,
  I32EnumAttrCase<"kGe", 5, "ge">,
]>;
def Td_ComparePredicateAttr : EnumAttr<Td_Dialect, Td_ComparePredicate, "compare_predicate">;

#endif
