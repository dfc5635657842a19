#include "laya/training_probe.h"

namespace laya::apps {

TrainingProbe probe_training() { return {}; }

}  // namespace laya::apps
