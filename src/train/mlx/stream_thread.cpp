#include "train/mlx/stream_thread.h"

#include <exception>
#include <future>

#include "mlx/backend/cpu/encoder.h"
#include "mlx/device.h"
#include "mlx/stream.h"

namespace laya::train {

void run_on_stream(const std::function<void()>& work) {
  namespace mx = mlx::core;
  std::promise<void> done;
  auto finished = done.get_future();
  mx::cpu::get_command_encoder(mx::default_stream(mx::Device::cpu)).dispatch([&work, &done] {
    try {
      work();
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  finished.get();
}

}  // namespace laya::train
