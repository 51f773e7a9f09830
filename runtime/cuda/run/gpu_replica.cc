#include "runtime/cuda/run/gpu_replica.h"

#include <cstring>
#include <utility>

#include "base/align.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Outputs up to this size are copied to the host in every step, because that costs less than a separate request for
// one.
constexpr uint64_t kSmallOutput = 4096;
constexpr uint64_t kMaxTail = 64 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<GpuReplica>> GpuReplica::Create(const Executable& executable, int index,
                                                               std::shared_ptr<CudaDevice> device,
                                                               VariableStore& variables, const SegmentPlan& plan,
                                                               DeviceProgram& program) {
  auto replica = std::unique_ptr<GpuReplica>(new GpuReplica());
  TD_ASSIGN_OR_RETURN(replica->memory_,
                      ReplicaMemory::Create(executable, index, device, variables, program.workspace_bytes()));
  TD_ASSIGN_OR_RETURN(replica->issuer_, CommandIssuer::Create(executable, plan, *replica->memory_, program));
  TD_ASSIGN_OR_RETURN(replica->compute_, MakeStream(device));
  TD_ASSIGN_OR_RETURN(replica->communication_, MakeStream(device));
  replica->ends_.resize(plan.segments.size());
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    if (plan.segments[i].awaited) {
      TD_ASSIGN_OR_RETURN(replica->ends_[i], MakeEvent(device));
    }
  }
  TD_ASSIGN_OR_RETURN(replica->host_staging_, MakePinned(device, replica->memory_->staging_layout().bytes));
  uint64_t tail = 64;  // bytes of the tail, whose first 64 are for the flag
  const format::Program& p = executable.index().programs[executable.index().replicas[0].program];
  for (const auto& output : executable.index().outputs) {
    const format::Buffer& b = p.buffers[output.buffer];
    TailOutput_ out;
    const uint64_t bytes = NumElements(b.shape) * SizeOf(b.dtype);
    if (index == 0 && b.row_bytes == 0 && bytes <= kSmallOutput && tail + bytes <= kMaxTail) {
      out = {replica->memory_->Address(b), tail, bytes};
      tail += AlignUp(bytes, 64);
    }
    replica->tail_outputs_.push_back(out);
  }
  TD_ASSIGN_OR_RETURN(replica->host_tail_, MakePinned(device, tail));
  return replica;
}

GpuReplica::~GpuReplica() {
  if (memory_ == nullptr || device().lost() || !device().MakeCurrent().ok()) return;
  // Errors were reported when they occurred; here it only matters that nothing uses the memory any longer.
  for (CUstream stream : {compute_.get(), communication_.get()}) {
    if (stream != nullptr) driver().cuStreamSynchronize(stream);
  }
}

absl::Status GpuReplica::IssueHead(int64_t rows, bool full, bool inputs_on_device) {
  const StagingLayout& layout = memory_->staging_layout();
  const CUdeviceptr to = memory_->staging();
  const uint8_t* from = host_staging();
  const bool at_once = full && !inputs_on_device;
  TD_CU(driver(), cuMemcpyHtoDAsync_v2(to, from, at_once ? layout.bytes : layout.scalar_bytes, compute_.get()));
  for (size_t i = 0; i < layout.input_offsets.size() && !at_once && !inputs_on_device; ++i) {
    const uint64_t bytes = rows * layout.input_row_bytes[i], at = layout.input_offsets[i];
    if (bytes > 0) TD_CU(driver(), cuMemcpyHtoDAsync_v2(to + at, from + at, bytes, compute_.get()));
  }
  TD_CU(driver(), cuMemsetD32Async(memory_->flag(), 0, 1, compute_.get()));
  return absl::OkStatus();
}

absl::Status GpuReplica::IssueTail() {
  auto* to = static_cast<uint8_t*>(host_tail_.get());
  TD_CU(driver(), cuMemcpyDtoHAsync_v2(to, memory_->flag(), 4, compute_.get()));
  for (const TailOutput_& out : tail_outputs_) {
    if (out.bytes > 0) TD_CU(driver(), cuMemcpyDtoHAsync_v2(to + out.offset, out.from, out.bytes, compute_.get()));
  }
  return absl::OkStatus();
}

bool GpuReplica::finite() const {
  int32_t flag;
  std::memcpy(&flag, host_tail_.get(), sizeof flag);
  return flag == 0;
}

const uint8_t* GpuReplica::TailOutput(int i) const {
  const TailOutput_& out = tail_outputs_[i];
  return out.bytes == 0 ? nullptr : static_cast<const uint8_t*>(host_tail_.get()) + out.offset;
}

absl::StatusOr<CUgraphExec> GpuReplica::Capture(absl::FunctionRef<absl::Status()> issue) {
  TD_CU(driver(), cuStreamBeginCapture_v2(compute_.get(), kCudaCaptureThreadLocal));
  absl::Status issued = issue();
  CUgraph graph = nullptr;
  const CUresult ended = driver().cuStreamEndCapture(compute_.get(), &graph);
  CUgraphExec exec = nullptr;
  CUresult made = kCudaSuccess;
  if (issued.ok() && ended == kCudaSuccess) made = driver().cuGraphInstantiateWithFlags(&exec, graph, 0);
  if (graph != nullptr) driver().cuGraphDestroy(graph);
  TD_RETURN_IF_ERROR(issued);
  TD_RETURN_IF_ERROR(CudaStatus(driver(), ended, "cuStreamEndCapture"));
  TD_RETURN_IF_ERROR(CudaStatus(driver(), made, "cuGraphInstantiateWithFlags"));
  return exec;
}

absl::Status GpuReplica::LaunchGraph(std::tuple<uint32_t, uint32_t, bool> key,
                                     absl::FunctionRef<absl::Status()> issue) {
  auto found = graphs_.find(key);
  if (found == graphs_.end()) {
    TD_ASSIGN_OR_RETURN(CUgraphExec exec, Capture(issue));
    found = graphs_.emplace(key, CudaGraphExec(shared_device(), exec)).first;
  }
  TD_CU(driver(), cuGraphLaunch(found->second.get(), compute_.get()));
  return absl::OkStatus();
}

absl::Status GpuReplica::RecordEnd(uint32_t segment, format::Stream on) {
  TD_CU(driver(), cuEventRecord(ends_[segment].get(), stream(on)));
  return absl::OkStatus();
}

absl::Status GpuReplica::Join(format::Stream later) {
  const bool compute = later == format::Stream::kCompute;
  CudaEvent& event = joins_[compute ? 0 : 1];
  if (event.get() == nullptr) {
    TD_ASSIGN_OR_RETURN(event, MakeEvent(shared_device()));
  }
  TD_CU(driver(),
        cuEventRecord(event.get(), stream(compute ? format::Stream::kCommunication : format::Stream::kCompute)));
  TD_CU(driver(), cuStreamWaitEvent(stream(later), event.get(), 0));
  return absl::OkStatus();
}

absl::Status GpuReplica::WaitFor(uint32_t segment, format::Stream on) {
  TD_CU(driver(), cuStreamWaitEvent(stream(on), ends_[segment].get(), 0));
  return absl::OkStatus();
}

}  // namespace tandem
