// Streams and events of the fake driver.
#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_driver_state.h"

namespace tandem {
namespace {

using State = FakeDriverState;

FakeStream* AnyStream(State& state, CUstream handle, const char* call) {
  return state.Find(state.streams, handle, call);
}

CUresult CreateStream(CUstream* handle, unsigned) {
  State::Entry entry("cuStreamCreate");
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  if (state.CurrentContext() == nullptr) return kCudaInvalidContext;
  auto stream = std::make_unique<FakeStream>();
  stream->context = state.CurrentContext();
  stream->id = state.next_stream++;
  *handle = reinterpret_cast<CUstream>(stream.get());
  state.streams[stream.get()] = std::move(stream);
  return kCudaSuccess;
}

CUresult DestroyStream(CUstream handle) {
  State::Entry entry("cuStreamDestroy_v2", handle);
  FakeStream* stream = AnyStream(entry.state(), handle, "cuStreamDestroy_v2");
  if (stream == nullptr) return kCudaInvalidHandle;
  if (stream->capturing) entry.state().Violation("cuStreamDestroy_v2: the stream is being captured");
  if (!stream->hung) entry.state().RunUntil(stream->clock);
  entry.state().streams.erase(handle);
  return entry.result();
}

CUresult Synchronize(CUstream handle) {
  State::Entry entry("cuStreamSynchronize", handle);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* stream = AnyStream(state, handle, "cuStreamSynchronize");
  if (stream == nullptr) return kCudaInvalidHandle;
  if (stream->capturing) {
    state.Violation("cuStreamSynchronize: the stream is being captured");
    stream->capture_invalid = true;
    return kCudaCaptureUnsupported;
  }
  if (stream->hung) {
    state.Violation("cuStreamSynchronize: waits for work that never ends");
    return kCudaLaunchTimeout;
  }
  state.RunUntil(stream->clock);
  return stream->context->broken;
}

CUresult QueryStream(CUstream handle) {
  State::Entry entry("cuStreamQuery", handle);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* stream = AnyStream(state, handle, "cuStreamQuery");
  if (stream == nullptr) return kCudaInvalidHandle;
  if (stream->capturing) {
    stream->capture_invalid = true;
    return kCudaCaptureUnsupported;
  }
  if (stream->hung) return kCudaNotReady;
  state.RunUntil(stream->clock);
  return stream->context->broken;
}

CUresult WaitEvent(CUstream handle, CUevent event, unsigned) {
  State::Entry entry("cuStreamWaitEvent", handle);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* stream = AnyStream(state, handle, "cuStreamWaitEvent");
  FakeEvent* e = state.Find(state.events, event, "cuStreamWaitEvent");
  if (stream == nullptr || e == nullptr) return kCudaInvalidHandle;
  if (!e->recorded) {
    state.Violation("cuStreamWaitEvent: the event was never recorded, so nothing is waited for");
    return kCudaSuccess;
  }
  if (e->captured_on != nullptr && e->captured_on != stream) {
    state.Violation("cuStreamWaitEvent: the event belongs to another capture");
    return kCudaCaptureUnsupported;
  }
  if (stream->capturing) {
    if (e->captured_on == stream) return kCudaSuccess;  // the stream's own order already ensures it
    stream->capture_invalid = true;
    state.Violation("cuStreamWaitEvent: a captured stream waits for an event from outside of the capture");
    return kCudaCaptureIsolation;
  }
  JoinClock(stream->clock, e->clock);
  stream->hung |= e->hung;
  return kCudaSuccess;
}

CUresult CreateEvent(CUevent* handle, unsigned flags) {
  State::Entry entry("cuEventCreate");
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  if (state.CurrentContext() == nullptr) return kCudaInvalidContext;
  auto event = std::make_unique<FakeEvent>();
  event->context = state.CurrentContext();
  event->timing = (flags & kCudaEventDisableTiming) == 0;
  *handle = reinterpret_cast<CUevent>(event.get());
  state.events[event.get()] = std::move(event);
  return kCudaSuccess;
}

CUresult DestroyEvent(CUevent handle) {
  State::Entry entry("cuEventDestroy_v2");
  if (entry.state().Find(entry.state().events, handle, "cuEventDestroy_v2") == nullptr) return kCudaInvalidHandle;
  entry.state().events.erase(handle);
  return entry.result();
}

CUresult Record(CUevent handle, CUstream stream_handle) {
  State::Entry entry("cuEventRecord", stream_handle);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* stream = state.Stream(stream_handle, "cuEventRecord");
  FakeEvent* event = state.Find(state.events, handle, "cuEventRecord");
  if (stream == nullptr || event == nullptr) return kCudaInvalidHandle;
  if (event->context != stream->context) {
    state.Violation("cuEventRecord: event and stream belong to different contexts");
    return kCudaInvalidHandle;
  }
  event->recorded = true;
  event->captured_on = stream->capturing ? stream : nullptr;
  JoinClock(stream->clock, state.host);
  event->clock = stream->clock;
  event->hung = stream->hung;
  event->milliseconds = static_cast<double>(stream->count) / 1024;
  return kCudaSuccess;
}

CUresult WaitForEvent(CUevent handle, const char* call, bool wait) {
  State::Entry entry(call);
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeEvent* event = state.Find(state.events, handle, call);
  if (event == nullptr) return kCudaInvalidHandle;
  if (event->captured_on != nullptr) return kCudaCapturedEvent;
  if (event->hung) {
    if (!wait) return kCudaNotReady;
    state.Violation(absl::StrCat(call, ": waits for work that never ends"));
    return kCudaLaunchTimeout;
  }
  state.RunUntil(event->clock);
  return event->context->broken;
}

CUresult Elapsed(float* milliseconds, CUevent begin, CUevent end) {
  State::Entry entry("cuEventElapsedTime");
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeEvent* a = state.Find(state.events, begin, "cuEventElapsedTime");
  FakeEvent* b = state.Find(state.events, end, "cuEventElapsedTime");
  if (a == nullptr || b == nullptr || !a->timing || !b->timing || !a->recorded || !b->recorded) {
    state.Violation("cuEventElapsedTime: needs two recorded events with timing");
    return kCudaInvalidHandle;
  }
  *milliseconds = static_cast<float>(b->milliseconds - a->milliseconds);
  return kCudaSuccess;
}

}  // namespace

void BindFakeStreams(DriverApi& api) {
  api.cuStreamCreate = CreateStream;
  api.cuStreamDestroy_v2 = DestroyStream;
  api.cuStreamSynchronize = Synchronize;
  api.cuStreamQuery = QueryStream;
  api.cuStreamWaitEvent = WaitEvent;
  api.cuEventCreate = CreateEvent;
  api.cuEventDestroy_v2 = DestroyEvent;
  api.cuEventRecord = Record;
  api.cuEventSynchronize = [](CUevent event) { return WaitForEvent(event, "cuEventSynchronize", true); };
  api.cuEventQuery = [](CUevent event) { return WaitForEvent(event, "cuEventQuery", false); };
  api.cuEventElapsedTime = Elapsed;
}

}  // namespace tandem
