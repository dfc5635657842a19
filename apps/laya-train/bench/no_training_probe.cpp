#include "laya-train/bench/training_probe.h"

namespace laya::apps {

TrainingProbe measure_training() { return {}; }

}  // namespace laya::apps
