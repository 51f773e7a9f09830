#include "graph/ir/random.h"

#include "base/philox.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#define GET_OP_CLASSES
#include "graph/ir/random.cc.inc"

namespace tandem::td {

namespace arith = mlir::arith;
using mlir::Value;

void TdDialect::registerRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/random.cc.inc"
      >();
}

namespace {

// Emits Philox4x32-10 and the counter of td.random_uniform as arith ops; the same steps as base/philox.h.
class PhiloxEmitter {
 public:
  explicit PhiloxEmitter(ElementalContext& c) : b_(c.builder()), loc_(c.loc()) {}

  // Returns element number `element` (i64) of row `row` (i64), as f32.
  Value Uniform(Value seed_xor_key, Value step, Value row, Value element) {
    Value counter[4] = {Low(b_.create<arith::ShRUIOp>(loc_, element, I64(2))), Low(row), Low(step),
                        Xor(High(row), b_.create<arith::ShLIOp>(loc_, High(step), I32(16)))};
    Value key[2] = {Low(seed_xor_key), High(seed_xor_key)};
    for (int round = 0; round < 10; ++round) {
      Value p0 = Product(counter[0], 0xD2511F53u), p1 = Product(counter[2], 0xCD9E8D57u);
      Value c0 = Xor(Xor(High(p1), counter[1]), key[0]), c2 = Xor(Xor(High(p0), counter[3]), key[1]);
      counter[1] = Low(p1), counter[3] = Low(p0);
      counter[0] = c0, counter[2] = c2;
      key[0] = b_.create<arith::AddIOp>(loc_, key[0], I32(0x9E3779B9u));
      key[1] = b_.create<arith::AddIOp>(loc_, key[1], I32(0xBB67AE85u));
    }
    // Selects by the two low bits of the element's number: no branch, so that a loop over elements vectorises.
    Value lane = Low(element);
    Value odd = IsSet(lane, 1), upper = IsSet(lane, 2);
    Value word = Select(upper, Select(odd, counter[3], counter[2]), Select(odd, counter[1], counter[0]));
    // The number is below 2^24, so the signed conversion (the cheaper one) is exact, and so is the product.
    Value bits = b_.create<arith::ShRUIOp>(loc_, word, I32(8));
    Value number = b_.create<arith::SIToFPOp>(loc_, b_.getF32Type(), bits);
    return b_.create<arith::MulFOp>(loc_, number, b_.create<arith::ConstantOp>(loc_, b_.getF32FloatAttr(0x1.0p-24f)));
  }

 private:
  Value I32(uint32_t v) { return b_.create<arith::ConstantOp>(loc_, b_.getI32IntegerAttr(static_cast<int32_t>(v))); }
  Value I64(int64_t v) { return b_.create<arith::ConstantOp>(loc_, b_.getI64IntegerAttr(v)); }
  Value Low(Value x) { return b_.create<arith::TruncIOp>(loc_, b_.getI32Type(), x); }
  Value High(Value x) { return Low(b_.create<arith::ShRUIOp>(loc_, x, I64(32))); }
  Value Xor(Value x, Value y) { return b_.create<arith::XOrIOp>(loc_, x, y); }
  Value Select(Value c, Value x, Value y) { return b_.create<arith::SelectOp>(loc_, c, x, y); }
  Value IsSet(Value x, uint32_t bit) {
    Value masked = b_.create<arith::AndIOp>(loc_, x, I32(bit));
    return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ne, masked, I32(0));
  }
  // Returns all 64 bits of a product of unsigned 32-bit words.
  Value Product(Value x, uint32_t y) {
    return b_.create<arith::MulIOp>(loc_, b_.create<arith::ExtUIOp>(loc_, b_.getI64Type(), x), I64(int64_t{y}));
  }

  mlir::OpBuilder& b_;
  mlir::Location loc_;
};

}  // namespace

llvm::LogicalResult RandomUniformOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> loc,
                                                      mlir::ValueRange, mlir::DictionaryAttr,
                                                      mlir::OpaqueProperties properties, mlir::RegionRange,
                                                      llvm::SmallVectorImpl<mlir::Type>& types) {
  llvm::ArrayRef<int64_t> shape = properties.as<Properties*>()->shape;
  Shape sizes(shape.begin(), shape.end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 && (i > 0 || sizes[i] != kBatch)) {
      return mlir::emitOptionalError(loc, "shape ", Str(shape), " has a negative size in dimension ", i,
                                     "; only dimension 0 may be the batch (-1)");
    }
  }
  types.push_back(TensorType(context, DType::kFloat32, sizes));
  return mlir::success();
}

BatchRule RandomUniformOp::getBatchRule() { return BatchRule::kPerExample; }
FusionKind RandomUniformOp::getFusionKind() { return FusionKind::kElementwise; }
// About this many integer operations: too many to compute an element twice.
int64_t RandomUniformOp::getFlops() { return 80 * RowElements(getType()); }

absl::Status RandomUniformOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                       std::vector<RefTensor>& results) {
  RefTensor r = MakeResult(getType(), context.batch);
  // Exact up to 2^53, like all integers of the interpreter.
  uint64_t key = static_cast<uint64_t>(static_cast<int64_t>(operands[0]->values[0])) ^ static_cast<uint64_t>(getKey());
  uint64_t step = static_cast<uint64_t>(static_cast<int64_t>(operands[1]->values[0]));
  int64_t row_elements = RowElements(getType());
  bool batched = IsBatched(getType());
  for (size_t i = 0; i < r.values.size(); ++i) {
    uint64_t row = batched ? static_cast<uint64_t>(context.row_offset) + i / row_elements : 0;
    uint64_t element = i % row_elements;
    PhiloxCounter words =
        Philox4x32({static_cast<uint32_t>(element >> 2), static_cast<uint32_t>(row), static_cast<uint32_t>(step),
                    static_cast<uint32_t>(row >> 32) ^ (static_cast<uint32_t>(step >> 32) << 16)},
                   {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
    r.values[i] = UniformFloat(words[element & 3]);
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

mlir::Value RandomUniformOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  auto i64 = [&](Value index) -> Value { return b.create<arith::IndexCastOp>(c.loc(), b.getI64Type(), index); };
  auto constant = [&](int64_t v) -> Value { return b.create<arith::ConstantIndexOp>(c.loc(), v); };
  mlir::RankedTensorType type = getType();
  bool batched = IsBatched(type);
  Value row = constant(0), element = constant(0);
  if (batched) row = b.create<arith::AddIOp>(c.loc(), c.RowOffset(), indices[0]);
  for (int64_t d = batched ? 1 : 0; d < type.getRank(); ++d) {
    element = b.create<arith::MulIOp>(c.loc(), element, constant(type.getDimSize(d)));
    element = b.create<arith::AddIOp>(c.loc(), element, indices[d]);
  }
  Value key = b.create<arith::XOrIOp>(c.loc(), c.Operand(0, {}),
                                      b.create<arith::ConstantOp>(c.loc(), b.getI64IntegerAttr(getKey())));
  return PhiloxEmitter(c).Uniform(key, c.Operand(1, {}), i64(row), i64(element));
}

}  // namespace tandem::td
