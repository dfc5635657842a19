// Stands in for main.cpp while src/predict is not there yet; goes away with it.
#include <iostream>

#include "command.h"
#include "train_command.h"
#include "vocabulary_command.h"

int main(int argc, char** argv) {
  CLI::App app{"Laya"};
  app.require_subcommand(1);
  laya::apps::Outcome outcome;
  laya::apps::add_train_command(app, outcome.exit_code);
  laya::apps::add_vocabulary_command(app, outcome);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return outcome.exit_code;
}
