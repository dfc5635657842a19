#include <iostream>

#include "laya-train/bench/training_probe.h"

namespace laya::apps {

void add_probe_command(CLI::App& app, Outcome& outcome) {
  (void)outcome;  // it always succeeds: what cannot be measured is 0
  app.add_subcommand("probe", "what this machine reaches in training, for laya doctor")
      ->group("")
      ->callback([] { std::cout << to_line(measure_training()) << std::endl; });
}

}  // namespace laya::apps
