#include "benchmarks/matmul_rate.h"

#include <omp.h>

#include <algorithm>

#include "oneapi/dnnl/dnnl.hpp"

namespace tandem::benchmarks {

struct Matmul::State {
  int threads;
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::memory memory[3];
  dnnl::matmul primitive;
};

Matmul::Matmul(int threads) {
  constexpr int64_t kSize = 1024;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  state_ = std::make_unique<State>(State{threads, engine, dnnl::stream(engine), {}, {}});
  omp_set_num_threads(threads);
  dnnl::memory::desc md({kSize, kSize}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  for (dnnl::memory& m : state_->memory) {
    m = dnnl::memory(md, engine);
    std::fill_n(static_cast<float*>(m.get_data_handle()), kSize * kSize, 0.5f);
  }
  state_->primitive = dnnl::matmul(dnnl::matmul::primitive_desc(engine, md, md, md));
  omp_set_num_threads(1);
}

Matmul::~Matmul() = default;

void Matmul::Run() {
  omp_set_num_threads(state_->threads);
  state_->primitive.execute(
      state_->stream,
      {{DNNL_ARG_SRC, state_->memory[0]}, {DNNL_ARG_WEIGHTS, state_->memory[1]}, {DNNL_ARG_DST, state_->memory[2]}});
  state_->stream.wait();
  omp_set_num_threads(1);
}

}  // namespace tandem::benchmarks
