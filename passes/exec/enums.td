// Enumerations that only the compiler has. Those of executables are in runtime/format/index.td.
#ifndef TANDEM_PASSES_EXEC_ENUMS
#define TANDEM_PASSES_EXEC_ENUMS

include "mlir/IR/EnumAttr.td"

class Exec_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tandem::exec";
  let genSpecializedAttr = 0;
}

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

def Exec_ContractionKind : Exec_Enum<"ContractionKind", "the op of td whose result exec.contraction computes", [
  I32EnumAttrCase<"kConv2D", 0, "conv2d">,
  I32EnumAttrCase<"kConv2DFilterGrad", 1, "conv2d_filter_grad">,
  I32EnumAttrCase<"kMatMul", 2, "matmul">,
]>;

def Exec_Combine : Exec_Enum<"Combine", "what a map makes of its microbatches' results", [
  I32EnumAttrCase<"kSum", 0, "sum">,
  I32EnumAttrCase<"kMax", 1, "max">,
  I32EnumAttrCase<"kKeep", 2, "keep">,  // the rows side by side
]>;

def Exec_Backend : Exec_Enum<"Backend", "what runs a program", [
  I32EnumAttrCase<"kCpu", 0, "cpu">,
  I32EnumAttrCase<"kCuda", 1, "cuda">,
]>;

#endif
