#include "model/decoder/decoder_backends.h"

namespace laya::model {

Result<std::unique_ptr<Decoder>> make_mlx_decoder(const DecoderConfig&, OwnedFloatDecoder) {
  return Error{
      ErrorCode::Unsupported,
      "this build has no MLX backend; 'scripts/setup training' brings it, then build again, or use "
      "the cpu backend"};
}

}  // namespace laya::model
