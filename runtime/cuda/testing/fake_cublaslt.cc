#include "runtime/cuda/testing/fake_cublaslt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "runtime/cuda/testing/tf32.h"

namespace tandem {
namespace {

constexpr uint64_t kMagic = 0x7a4d5, kSplitWorkspace = 3 * 4096;
constexpr int kAlgorithms = 3;
constexpr int64_t kSplitFrom = 512;  // sums of more products than this are split

struct Desc {
  int compute = 0;
  int32_t transpose_a = 0, transpose_b = 0;
  uint32_t epilogue = cublaslt::kEpilogueDefault;
  const void* bias = nullptr;
  void* aux = nullptr;
  int64_t aux_ld = 0;

  bool Has(uint32_t part) const { return (epilogue & part) != 0; }
  bool SumsUp() const {
    return Has(cublaslt::kEpilogueBiasGrad | cublaslt::kEpilogueBiasGradA | cublaslt::kEpilogueBiasGradB);
  }
  bool IsMask() const { return Has(cublaslt::kEpilogueRelu | cublaslt::kEpilogueReluGrad); }
};

struct Layout {
  int type = 0;
  int64_t rows = 0, columns = 0, ld = 0, stride = 0;
  int32_t batch = 1;
  uint32_t mode = 0;

  bool by_address() const { return mode == cublaslt::kBatchModePointerArray; }
  int64_t bytes() const { return type == cublaslt::kBFloat16 ? 2 : 4; }
  // Returns the bytes of the argument: from the first element to behind the last, or those of the addresses.
  uint64_t extent() const {
    return by_address() ? batch * sizeof(uint64_t) : ((batch - 1) * stride + (columns - 1) * ld + rows) * bytes();
  }
  // Returns the matrix of product i.
  const char* At(const void* argument, int32_t i) const {
    return by_address() ? static_cast<const char* const*>(argument)[i]
                        : static_cast<const char*>(argument) + i * stride * bytes();
  }
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reduction_mask = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

struct State {
  std::set<const void*> live;
  std::vector<std::string> calls, violations;
  struct Failure {
    std::string name;
    cublasStatus_t status;
    int n;
  };
  std::vector<Failure> failures;
  bool supports_nothing = false, knows_pointer_arrays = true;
  cublasStatus_t epilogues = cublaslt::kSuccess;
};
State* cublaslt_state = nullptr;

cublasStatus_t Enter(const char* name, bool record = true) {
  if (record) cublaslt_state->calls.push_back(name);
  for (State::Failure& f : cublaslt_state->failures) {
    if (f.name == name && f.n > 0 && --f.n == 0) return f.status;
  }
  return cublaslt::kSuccess;
}

template <typename T, typename Handle>
cublasStatus_t Make(Handle* handle, const char* name, T value) {
  const cublasStatus_t status = Enter(name, false);
  if (status != cublaslt::kSuccess) return status;
  T* object = new T(value);
  cublaslt_state->live.insert(object);
  *handle = reinterpret_cast<Handle>(object);
  return status;
}

template <typename T, typename Handle>
cublasStatus_t Destroy(Handle handle) {
  T* object = reinterpret_cast<T*>(handle);
  if (cublaslt_state->live.erase(object) == 0) {
    cublaslt_state->violations.push_back("destroys what does not exist, or no longer");
    return cublaslt::kInvalidValue;
  }
  delete object;
  return cublaslt::kSuccess;
}

template <typename T>
cublasStatus_t Store(T& to, const void* value, size_t bytes) {
  if (bytes != sizeof to) return cublaslt::kInvalidValue;
  std::memcpy(&to, value, bytes);
  return cublaslt::kSuccess;
}

cublasStatus_t SetDesc(cublasLtMatmulDesc_t handle, int attribute, const void* value, size_t bytes) {
  Desc& d = *reinterpret_cast<Desc*>(handle);
  switch (attribute) {
    case cublaslt::kDescTransA:
      return Store(d.transpose_a, value, bytes);
    case cublaslt::kDescTransB:
      return Store(d.transpose_b, value, bytes);
    case cublaslt::kDescEpilogue:
      return Store(d.epilogue, value, bytes);
    case cublaslt::kDescBiasPointer:
      return Store(d.bias, value, bytes);
    case cublaslt::kDescAuxPointer:
      return Store(d.aux, value, bytes);
    case cublaslt::kDescAuxLeadingDimension:
      return Store(d.aux_ld, value, bytes);
    default:
      return cublaslt::kInvalidValue;
  }
}

cublasStatus_t SetLayout(cublasLtMatrixLayout_t handle, int attribute, const void* value, size_t bytes) {
  Layout& l = *reinterpret_cast<Layout*>(handle);
  switch (attribute) {
    case cublaslt::kLayoutBatchCount:
      return Store(l.batch, value, bytes);
    case cublaslt::kLayoutStridedBatchOffset:
      return Store(l.stride, value, bytes);
    case cublaslt::kLayoutBatchMode:
      return cublaslt_state->knows_pointer_arrays ? Store(l.mode, value, bytes) : cublaslt::kInvalidValue;
    default:
      return cublaslt::kInvalidValue;
  }
}

cublasStatus_t SetPreference(cublasLtMatmulPreference_t handle, int attribute, const void* value, size_t bytes) {
  Preference& p = *reinterpret_cast<Preference*>(handle);
  switch (attribute) {
    case cublaslt::kPrefMaxWorkspaceBytes:
      return Store(p.workspace, value, bytes);
    case cublaslt::kPrefReductionSchemeMask:
      return Store(p.reduction_mask, value, bytes);
    default:
      if (attribute < cublaslt::kPrefMinAlignmentA || attribute > cublaslt::kPrefMinAlignmentD) {
        return cublaslt::kInvalidValue;
      }
      return Store(p.alignment[attribute - cublaslt::kPrefMinAlignmentA], value, bytes);
  }
}

struct Product {
  Desc desc;
  Layout a, b, d;
  int64_t m() const { return d.rows; }
  int64_t n() const { return d.columns; }
  int64_t k() const { return desc.transpose_a ? a.rows : a.columns; }
};

// True if the auxiliary matrix fits: bits in columns of a multiple of 128, or elements in columns of a multiple of 8.
bool FitsAux(const Product& p) {
  if (!p.desc.Has(cublaslt::kEpilogueAux)) return true;
  const int64_t ld = p.desc.aux_ld;
  return p.desc.aux != nullptr && ld >= p.m() && ld % (p.desc.IsMask() ? 128 : 8) == 0 && p.d.batch == 1;
}

uint64_t AuxBytes(const Product& p) {
  return p.desc.IsMask() ? p.n() * p.desc.aux_ld / 8 : p.n() * p.desc.aux_ld * p.d.bytes();
}

// True if sizes, types and batches fit together.
bool Fits(const Product& p) {
  const Layout &a = p.a, &b = p.b;
  const bool types = a.type == b.type && (p.d.type == a.type || p.d.type == cublaslt::kFloat32);
  const bool sizes = (p.desc.transpose_a ? a.columns : a.rows) == p.m() &&
                     (p.desc.transpose_b ? b.columns : b.rows) == p.k() &&
                     (p.desc.transpose_b ? b.rows : b.columns) == p.n();
  const bool dense = a.ld >= a.rows && b.ld >= b.rows && p.d.ld >= p.d.rows;
  const bool bias = (!p.desc.Has(cublaslt::kEpilogueBias) && !p.desc.SumsUp()) || p.desc.bias != nullptr;
  const bool modes =
      a.mode == b.mode && a.mode == p.d.mode && (!a.by_address() || p.desc.epilogue == cublaslt::kEpilogueDefault);
  return types && sizes && dense && bias && modes && FitsAux(p) && a.batch == b.batch && a.batch == p.d.batch;
}

float Read(const void* base, int type, int64_t i) {
  return type == cublaslt::kBFloat16 ? FromBFloat16Bits(static_cast<const uint16_t*>(base)[i])
                                     : static_cast<const float*>(base)[i];
}

// Returns op(matrix) of one product, row by row.
std::vector<float> Dense(const void* base, const Layout& l, bool transpose, int32_t batch, bool tf32) {
  std::vector<float> dense(l.rows * l.columns);
  base = l.At(base, batch);
  for (int64_t c = 0; c < l.columns; ++c) {
    for (int64_t r = 0; r < l.rows; ++r) {
      const float x = Read(base, l.type, c * l.ld + r);
      dense[transpose ? c * l.rows + r : r * l.columns + c] = tf32 ? ToTf32(x) : x;
    }
  }
  return dense;
}

void Write(void* base, int type, int64_t i, float value) {
  if (type == cublaslt::kBFloat16) {
    static_cast<uint16_t*>(base)[i] = ToBFloat16Bits(value);
  } else {
    static_cast<float*>(base)[i] = value;
  }
}

constexpr double kGeluScale = 0.7978845608028654;  // sqrt(2 / pi)

double GeluTanh(double x) { return std::tanh(kGeluScale * (x + 0.044715 * x * x * x)); }
double Gelu(double x) { return 0.5 * x * (1 + GeluTanh(x)); }
double GeluSlope(double x) {
  const double t = GeluTanh(x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kGeluScale * (1 + 3 * 0.044715 * x * x);
}

// Returns the value that is stored for the product `value` at row i and column j; reads or writes the auxiliary matrix.
float Apply(const Product& p, int64_t i, int64_t j, float value) {
  const Desc& e = p.desc;
  const int64_t at = j * e.aux_ld + i;
  auto* bits = static_cast<uint8_t*>(e.aux) + at / 8;
  if (e.Has(cublaslt::kEpilogueBias)) value += Read(e.bias, p.d.type, i);
  if (e.Has(cublaslt::kEpilogueAux)) {
    if (e.Has(cublaslt::kEpilogueReluGrad)) return (*bits >> (at % 8) & 1) != 0 ? value : 0;
    if (e.Has(cublaslt::kEpilogueGeluGrad)) return value * static_cast<float>(GeluSlope(Read(e.aux, p.d.type, at)));
    if (!e.IsMask()) {
      Write(e.aux, p.d.type, at, value);
    } else {
      *bits = static_cast<uint8_t>((*bits & ~(1 << (at % 8))) | ((value > 0) << (at % 8)));
    }
  }
  if (e.Has(cublaslt::kEpilogueRelu)) return value > 0 ? value : 0;
  return e.Has(cublaslt::kEpilogueGelu) ? static_cast<float>(Gelu(value)) : value;
}

// Computes the gradient of a bias: sums of rows of the stored result, or of the operands.
void SumUp(const Product& p, const std::vector<float>& left, const std::vector<float>& right, const void* d) {
  auto* sums = static_cast<float*>(const_cast<void*>(p.desc.bias));
  const int64_t m = p.m(), n = p.n(), k = p.k();
  if (p.desc.Has(cublaslt::kEpilogueBiasGradB)) {
    for (int64_t j = 0; j < n; ++j) {
      sums[j] = 0;
      for (int64_t q = 0; q < k; ++q) sums[j] += right[q * n + j];
    }
    return;
  }
  const bool of_a = p.desc.Has(cublaslt::kEpilogueBiasGradA);
  for (int64_t i = 0; i < m; ++i) {
    sums[i] = 0;
    for (int64_t q = 0; q < (of_a ? k : n); ++q) sums[i] += of_a ? left[i * k + q] : Read(d, p.d.type, q * p.d.ld + i);
  }
}

void Compute(const Product& p, const void* a, const void* b, void* d) {
  const bool tf32 = p.desc.compute == cublaslt::kCompute32FFastTf32;
  const int64_t m = p.m(), n = p.n(), k = p.k();
  for (int32_t batch = 0; batch < p.d.batch; ++batch) {
    const std::vector<float> left = Dense(a, p.a, p.desc.transpose_a, batch, tf32);
    const std::vector<float> right = Dense(b, p.b, p.desc.transpose_b, batch, tf32);
    // Goes row by row through the transposed result, in the order of memory.
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        float sum = 0;
        for (int64_t q = 0; q < k; ++q) sum += left[i * k + q] * right[q * n + j];
        Write(const_cast<char*>(p.d.At(d, batch)), p.d.type, j * p.d.ld + i, Apply(p, i, j, sum));
      }
    }
    if (p.desc.SumsUp()) SumUp(p, left, right, d);
  }
}

uint64_t WorkspaceOf(const Product& p, uint64_t algorithm) {
  return p.k() > kSplitFrom && algorithm != 1 ? kSplitWorkspace : 0;
}

cublasStatus_t Heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                         cublasLtMatmulPreference_t preference, int requested, cublasLtMatmulHeuristicResult_t* results,
                         int* found) {
  *found = 0;
  const cublasStatus_t status = Enter("cublasLtMatmulAlgoGetHeuristic");
  if (status != cublaslt::kSuccess) return status;
  const Product p = {*reinterpret_cast<Desc*>(desc), *reinterpret_cast<Layout*>(a), *reinterpret_cast<Layout*>(b),
                     *reinterpret_cast<Layout*>(d)};
  const Preference& q = *reinterpret_cast<Preference*>(preference);
  if (!Fits(p)) return cublaslt::kInvalidValue;
  if (cublaslt_state->supports_nothing) return cublaslt::kNotSupported;
  if (p.desc.epilogue != cublaslt::kEpilogueDefault && cublaslt_state->epilogues != cublaslt::kSuccess) {
    return cublaslt_state->epilogues;
  }
  if ((q.reduction_mask & cublaslt::kReductionInplace) != 0) {
    cublaslt_state->violations.push_back("sums may be split in place, in the result's type");
  }
  for (uint64_t i = 0; i < kAlgorithms && *found < requested; ++i) {
    if (WorkspaceOf(p, i) > q.workspace) continue;
    cublasLtMatmulHeuristicResult_t& r = results[(*found)++];
    r = {};
    // The promised alignments of the operands are stored in the algorithm.
    r.algo = {{kMagic, i, q.alignment[0], q.alignment[1], q.alignment[3], 0, 0, 0}};
    r.workspaceSize = WorkspaceOf(p, i);
  }
  return cublaslt::kSuccess;
}

cublasStatus_t AlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                         const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  const cublasStatus_t status = Enter("cublasLtMatmulAlgoCheck");
  if (status != cublaslt::kSuccess) return status;
  const Product p = {*reinterpret_cast<Desc*>(desc), *reinterpret_cast<Layout*>(a), *reinterpret_cast<Layout*>(b),
                     *reinterpret_cast<Layout*>(d)};
  if (!Fits(p) || algorithm->data[0] != kMagic || algorithm->data[1] >= kAlgorithms) return cublaslt::kInvalidValue;
  if (cublaslt_state->supports_nothing) return cublaslt::kNotSupported;
  *result = {};
  result->workspaceSize = WorkspaceOf(p, algorithm->data[1]);
  return cublaslt::kSuccess;
}

cublasStatus_t MatMul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                      cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                      const void* c, cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                      const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t workspace_bytes, CUstream stream) {
  const cublasStatus_t status = Enter("cublasLtMatmul");
  if (status != cublaslt::kSuccess) return status;
  const Product p = {*reinterpret_cast<Desc*>(desc), *reinterpret_cast<Layout*>(a_layout),
                     *reinterpret_cast<Layout*>(b_layout), *reinterpret_cast<Layout*>(d_layout)};
  auto violate = [](const std::string& what) {
    cublaslt_state->violations.push_back("cublasLtMatmul: " + what);
    return cublaslt::kInvalidValue;
  };
  if (!Fits(p)) return cublaslt::kInvalidValue;
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0 || c != d) {
    return violate("the fake knows D = A * B only");
  }
  if (algorithm == nullptr || algorithm->data[0] != kMagic) return violate("an algorithm of nobody");
  const uint64_t needed = WorkspaceOf(p, algorithm->data[1]);
  const auto address = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
  if (needed > workspace_bytes || address(workspace) % 256 != 0) return violate("the workspace does not do");
  // Addresses in an array are only valid when the product runs.
  const bool by_address = p.d.by_address();
  const std::array<uint64_t, 3> aligned = {algorithm->data[2], algorithm->data[3], algorithm->data[4]};
  const std::array<Layout, 3> layouts = {p.a, p.b, p.d};
  const std::array<const void*, 3> operands = {a, b, d};
  for (int i = 0; i < 3; ++i) {
    if (address(operands[i]) % (by_address ? sizeof(uint64_t) : aligned[i]) != 0) {
      return violate("an operand is less aligned than was promised");
    }
  }
  std::vector<DeviceAccess> accesses = {
      {address(a), p.a.extent(), false}, {address(b), p.b.extent(), false}, {address(d), p.d.extent(), !by_address}};
  if (p.desc.Has(cublaslt::kEpilogueBias) || p.desc.SumsUp()) {
    const int64_t elements = p.desc.Has(cublaslt::kEpilogueBiasGradB) ? p.n() : p.m();
    accesses.push_back({address(p.desc.bias), static_cast<uint64_t>(elements * p.d.bytes()), p.desc.SumsUp()});
  }
  if (p.desc.Has(cublaslt::kEpilogueAux)) {
    const bool reads = p.desc.Has(cublaslt::kEpilogueReluGrad | cublaslt::kEpilogueGeluGrad);
    accesses.push_back({address(p.desc.aux), AuxBytes(p), !reads});
  }
  if (needed > 0) accesses.push_back({address(workspace), needed, true});
  const CUresult result = FakeDriver::current()->Enqueue(stream, "cublasLtMatmul", std::move(accesses), [=] {
    for (int32_t i = 0; by_address && i < p.d.batch; ++i) {
      for (int k = 0; k < 3; ++k) {
        if (address(layouts[k].At(operands[k], i)) % aligned[k] == 0) continue;
        cublaslt_state->violations.push_back("cublasLtMatmul: a matrix is less aligned than was promised");
      }
    }
    if (needed > 0) std::memset(workspace, 0xcd, needed);
    Compute(p, a, b, d);
  });
  return result == kCudaSuccess ? cublaslt::kSuccess : cublaslt::kExecutionFailed;
}

const char* StatusName(cublasStatus_t status) {
  switch (status) {
    case cublaslt::kAllocFailed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case cublaslt::kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case cublaslt::kExecutionFailed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

CublasLtApi Bind() {
  if (cublaslt_state != nullptr) std::abort();  // a test's mistake
  cublaslt_state = new State;
  CublasLtApi api;
  api.cublasLtGetVersion = [] { return size_t{130000}; };
  api.cublasLtGetStatusName = StatusName;
  api.cublasLtCreate = [](cublasLtHandle_t* handle) {
    cublaslt_state->calls.push_back("cublasLtCreate");
    return Make(handle, "cublasLtCreate", int{0});
  };
  api.cublasLtDestroy = [](cublasLtHandle_t handle) { return Destroy<int>(handle); };
  api.cublasLtMatmulDescCreate = [](cublasLtMatmulDesc_t* desc, int compute, int scale) {
    if (scale != cublaslt::kFloat32) return cublaslt::kNotSupported;
    Desc d;
    d.compute = compute;
    return Make(desc, "cublasLtMatmulDescCreate", d);
  };
  api.cublasLtMatmulDescDestroy = [](cublasLtMatmulDesc_t desc) { return Destroy<Desc>(desc); };
  api.cublasLtMatmulDescSetAttribute = SetDesc;
  api.cublasLtMatrixLayoutCreate = [](cublasLtMatrixLayout_t* layout, int type, uint64_t rows, uint64_t columns,
                                      int64_t ld) {
    Layout l;
    l.type = type;
    l.rows = static_cast<int64_t>(rows);
    l.columns = static_cast<int64_t>(columns);
    l.ld = ld;
    return Make(layout, "cublasLtMatrixLayoutCreate", l);
  };
  api.cublasLtMatrixLayoutDestroy = [](cublasLtMatrixLayout_t layout) { return Destroy<Layout>(layout); };
  api.cublasLtMatrixLayoutSetAttribute = SetLayout;
  api.cublasLtMatmulPreferenceCreate = [](cublasLtMatmulPreference_t* preference) {
    return Make(preference, "cublasLtMatmulPreferenceCreate", Preference());
  };
  api.cublasLtMatmulPreferenceDestroy = [](cublasLtMatmulPreference_t preference) {
    return Destroy<Preference>(preference);
  };
  api.cublasLtMatmulPreferenceSetAttribute = SetPreference;
  api.cublasLtMatmulAlgoGetHeuristic = Heuristic;
  api.cublasLtMatmulAlgoCheck = AlgoCheck;
  api.cublasLtMatmul = MatMul;
  return api;
}

}  // namespace

FakeCublasLt::FakeCublasLt() : api_(Bind()), scoped_(&api_) {}

FakeCublasLt::~FakeCublasLt() {
  delete cublaslt_state;
  cublaslt_state = nullptr;
}

void FakeCublasLt::FailCall(const std::string& name, cublasStatus_t status, int n) {
  cublaslt_state->failures.push_back({name, status, n});
}

std::vector<std::string> FakeCublasLt::TakeCalls() { return std::exchange(cublaslt_state->calls, {}); }
std::vector<std::string> FakeCublasLt::TakeViolations() { return std::exchange(cublaslt_state->violations, {}); }
int FakeCublasLt::live_objects() const { return static_cast<int>(cublaslt_state->live.size()); }
void FakeCublasLt::KnowNoPointerArrays() { cublaslt_state->knows_pointer_arrays = false; }
void FakeCublasLt::RefuseEpilogues(cublasStatus_t status) { cublaslt_state->epilogues = status; }
void FakeCublasLt::SupportNothing() { cublaslt_state->supports_nothing = true; }

}  // namespace tandem
