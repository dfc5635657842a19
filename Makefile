# Two commands for everybody: `make demo` and `make test`. Both may be run again at any time.
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
BIN := build/release/bin

.PHONY: help setup build demo test sanitize bench clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## (.*)/  make \1	\2/' | expand -t 18

setup: ## install what is missing (apt packages, the MLX wheel)
	@scripts/setup

build: setup ## build what ships, into build/release/bin
	@scripts/build release $(JOBS)

demo: build ## type into Laya; without a terminal, watch a replay
	@scripts/get_demo_model $(BIN)/laya
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/laya type; else $(BIN)/laya replay; fi

test: build ## every test
	@scripts/run_tests release $(JOBS)

sanitize: setup ## every test again, under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/build asan-ubsan $(JOBS)
	@scripts/run_tests asan-ubsan $(JOBS)

bench: build ## latency against the floor, on this machine
	@$(BIN)/laya bench

clean: ## remove the build, keep what setup fetched
	rm -rf build
