// Counter-based random numbers.
include "graph/ir/td_base.td"

// A scalar int64: its type need not be written.
def Td_Int64Scalar : Type<CPred<[{
      [](::mlir::Type t) {
        auto tensor = ::mlir::dyn_cast<::mlir::RankedTensorType>(t);
        return tensor && tensor.getRank() == 0 && tensor.getElementType().isSignlessInteger(64);
      }($_self)}]>, "an int64 scalar", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;

def Td_RandomUniformOp : Td_PureOp<"random_uniform", [
    DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
    DeclareOpInterfaceMethods<Td_ElementalOp>, DeclareOpInterfaceMethods<Td_CostOp>]> {
  let summary = "uniform in [0, 1), a function of seed, step, key and global row only";
  let description = [{
    Philox4x32-10 (base/philox.h). Element e of row r (row-major in the row; a result without batch is row 0) is
    UniformFloat of word e mod 4 of the block with
      key     = (low, high) half of seed xor key;
      counter = (e div 4, low(r), low(step), high(r) xor (high(step) << 16)).
    Different (element, row, step) give different counters as long as a row has fewer than 2^34 elements and rows
    and steps are below 2^48. `key` is a hash of the op's name; -1 in `shape` stands for the batch. Because r is the
    row in the global batch, the numbers do not depend on how the batch is split.
    ```mlir
    %u = td.random_uniform %seed, %step key 42 shape [-1, 10] -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Td_Int64Scalar:$seed, Td_Int64Scalar:$step, I64Attr:$key, DenseI64ArrayAttr:$shape);
  let results = (outs RankedTensorOf<[F32]>:$output);
  let assemblyFormat = "$seed `,` $step `key` $key `shape` $shape attr-dict `->` type($output)";
}
