# A thin front for CMake, Ninja and ctest: `make help` lists the targets.
#
# Every target first sees to the Debian packages that it needs (scripts/deps, quick when none is
# missing), and configures its build folder only when there is none; Ninja does the rest.

RUNS ?= 10000000
NAME ?=
SOURCES = git ls-files --cached --others --exclude-standard -- '*.c' '*.h'

.DEFAULT_GOAL := build
.PHONY: build demo test test-quick bench fmt tidy fuzz asan clean help deps-build deps-test

build: deps-build build/build.ninja ## build/bin/myriad, optimised (the default)
	@ninja -C build --quiet myriad

demo: build ## the story of the 10,240-GPU example on one page
	@scripts/demo

test: deps-test ## everything: both compilers, the sanitizers, style; ends with a count
	@scripts/test full

test-quick: deps-test ## the release build's tests without the slow ones
	@scripts/test quick

bench: deps-test build/build.ninja ## timings beside a reference; NAME=plan for one group
	@ninja -C build --quiet bench_programs
	@bench/run $(NAME)

fmt: deps-test ## clang-format over the tree
	@$(SOURCES) | xargs clang-format -i

tidy: deps-test build/build.ninja ## clang-tidy over the tree
	@ninja -C build --quiet
	@tests/tidy/check clang-tidy-deep --build build

fuzz: deps-test ## every fuzzer, RUNS executions each
	@scripts/fuzz $(RUNS)

asan: deps-test build-asan/build.ninja ## build-asan/bin/myriad, with the sanitizers
	@ninja -C build-asan --quiet

clean: ## remove what was built
	rm -rf build build-* out

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

deps-build:
	@scripts/deps build

deps-test:
	@scripts/deps test

build/build.ninja: | deps-build
	@cmake --preset release >/dev/null

build-%/build.ninja: | deps-test
	@cmake --preset $* >/dev/null
