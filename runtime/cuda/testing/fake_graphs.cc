// Stream capture and graphs of the fake driver.
#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_driver_state.h"

namespace tandem {
namespace {

using State = FakeDriverState;

CUresult BeginCapture(CUstream handle, int mode) {
  State::Entry entry("cuStreamBeginCapture_v2", handle);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* stream = state.Stream(handle, "cuStreamBeginCapture_v2");
  if (stream == nullptr) return kCudaInvalidHandle;
  if (stream->capturing) {
    state.Violation("cuStreamBeginCapture_v2: the stream is being captured already");
    return kCudaInvalidValue;
  }
  stream->capturing = true;
  stream->capture_invalid = false;
  stream->capturing_thread = mode == kCudaCaptureThreadLocal ? std::this_thread::get_id() : std::thread::id();
  stream->captured.clear();
  return kCudaSuccess;
}

CUresult EndCapture(CUstream handle, CUgraph* graph) {
  State::Entry entry("cuStreamEndCapture", handle);
  State& state = entry.state();
  FakeStream* stream = state.Stream(handle, "cuStreamEndCapture");
  if (stream == nullptr) return kCudaInvalidHandle;
  if (!stream->capturing) return kCudaCaptureUnmatched;
  stream->capturing = false;
  for (auto& [key, event] : state.events) {
    if (event->captured_on != stream) continue;
    event->captured_on = nullptr;
    event->recorded = false;
  }
  if (entry.result() != kCudaSuccess) return entry.result();
  if (stream->capture_invalid) {
    *graph = nullptr;
    return kCudaCaptureInvalidated;
  }
  auto made = std::make_unique<FakeGraph>();
  made->context = stream->context;
  made->work.swap(stream->captured);
  *graph = reinterpret_cast<CUgraph>(made.get());
  state.graphs[made.get()] = std::move(made);
  return kCudaSuccess;
}

CUresult Instantiate(CUgraphExec* handle, CUgraph graph, unsigned long long) {
  State::Entry entry("cuGraphInstantiateWithFlags");
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeGraph* from = state.Find(state.graphs, graph, "cuGraphInstantiateWithFlags");
  if (from == nullptr) return kCudaInvalidHandle;
  auto exec = std::make_unique<FakeGraph>(*from);
  *handle = reinterpret_cast<CUgraphExec>(exec.get());
  state.execs[exec.get()] = std::move(exec);
  return kCudaSuccess;
}

CUresult Launch(CUgraphExec handle, CUstream stream_handle) {
  State::Entry entry("cuGraphLaunch", stream_handle);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeGraph* exec = state.Find(state.execs, handle, "cuGraphLaunch");
  FakeStream* stream = state.Stream(stream_handle, "cuGraphLaunch");
  if (exec == nullptr || stream == nullptr) return kCudaInvalidHandle;
  if (stream->capturing) {
    state.Violation("cuGraphLaunch: into a captured stream");
    stream->capture_invalid = true;
    return kCudaCaptureUnsupported;
  }
  for (const FakeWork& work : exec->work) state.Queue(*stream, work);
  return kCudaSuccess;
}

CUresult DestroyExec(CUgraphExec handle) {
  State::Entry entry("cuGraphExecDestroy");
  if (entry.state().Find(entry.state().execs, handle, "cuGraphExecDestroy") == nullptr) return kCudaInvalidHandle;
  entry.state().execs.erase(handle);
  return entry.result();
}

CUresult DestroyGraph(CUgraph handle) {
  State::Entry entry("cuGraphDestroy");
  if (entry.state().Find(entry.state().graphs, handle, "cuGraphDestroy") == nullptr) return kCudaInvalidHandle;
  entry.state().graphs.erase(handle);
  return entry.result();
}

CUresult IsCapturing(CUstream handle, int* status) {
  State::Entry entry("cuStreamIsCapturing", handle);
  FakeStream* stream = entry.state().Find(entry.state().streams, handle, "cuStreamIsCapturing");
  if (stream == nullptr) return kCudaInvalidHandle;
  *status = stream->capturing ? kCudaCaptureStatusActive : kCudaCaptureStatusNone;
  return entry.result();
}

}  // namespace

void BindFakeGraphs(DriverApi& api) {
  api.cuStreamBeginCapture_v2 = BeginCapture;
  api.cuStreamEndCapture = EndCapture;
  api.cuStreamIsCapturing = IsCapturing;
  api.cuGraphInstantiateWithFlags = Instantiate;
  api.cuGraphLaunch = Launch;
  api.cuGraphExecDestroy = DestroyExec;
  api.cuGraphDestroy = DestroyGraph;
}

}  // namespace tandem
