# Two commands for everybody: `make demo` and `make test`. Both may be run again at any time.
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
BIN := build/release/bin

.PHONY: help setup build demo test sanitize tsan bench clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## (.*)/  make \1	\2/' | expand -t 18

setup: ## install what is missing to build and to type (apt packages)
	@scripts/setup demo

build: setup ## build what ships, into build/release/bin
	@scripts/build release $(JOBS) programs

demo: setup ## type into Laya; without a terminal, watch a replay
	@scripts/build release $(JOBS) laya
	@scripts/get_demo_model $(BIN)/laya
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/laya type; else $(BIN)/laya replay; fi
	@cat build/release/absent_parts.txt

test: ## every test; installs what training, comparing and cross-compiling need, too
	@scripts/setup test
	@scripts/build release $(JOBS)
	@scripts/run_tests release $(JOBS)

sanitize: ## every test again, under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup test
	@scripts/build asan-ubsan $(JOBS)
	@scripts/run_tests asan-ubsan $(JOBS)

tsan: ## the tests of what runs on several threads, under ThreadSanitizer
	@scripts/setup test
	@scripts/build tsan $(JOBS) thread_tests
	@scripts/run_tests tsan $(JOBS) '^(simd|predict|remote)[.]'

bench: build ## latency against the floor, on this machine
	@$(BIN)/laya bench

clean: ## remove the build, keep what setup fetched
	rm -rf build
