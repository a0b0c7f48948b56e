# A thin front for CMake, Ninja and ctest: `make help` lists the targets.
#
# Every target first sees to the Debian packages that it needs (scripts/deps, quick when none is
# missing), and configures its build folder only when there is none; Ninja does the rest.

RUNS ?= 10000000
NAME ?=
SEED ?= 1
COUNT ?= 30
MODULE ?=
prefix ?= /usr/local
DESTDIR ?=
SOURCES = git ls-files --cached --others --exclude-standard -- '*.c' '*.h'

.DEFAULT_GOAL := build
.PHONY: build install deb demo test test-quick bench mutants fmt tidy fuzz asan web clean help
.PHONY: bug-report deps-build deps-test test-kubernetes

build: deps-build build/build.ninja ## build/bin/myriad and myriad-agent, optimised (default)
	@scripts/build build myriad myriad-agent

install: deps-build build/build.ninja ## program, manual, library, documents; prefix=, DESTDIR=
	@scripts/build build myriad myriad-agent libmyriad myriad-ccl written
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(prefix) >build/install.log
	@echo "installed under $(DESTDIR)$(prefix); build/install_manifest.txt lists the files"

deb: deps-test ## the Debian packages, in build/deb
	@scripts/deb

demo: build ## the story of the 10,240-GPU example on one page
	@scripts/demo

test: deps-test ## everything: both compilers, the sanitizers, style; ends with a count
	@scripts/test full

test-quick: deps-test ## the release build's tests without the slow ones
	@scripts/test quick

test-kubernetes: deps-test build/build.ninja ## on a real Kubernetes, which it builds on first use
	@scripts/kubernetes >/dev/null
	@scripts/build build myriad
	@tests/kubernetes/run.py build/bin/myriad --full
	@tests/kubernetes/scale.py build/bin/myriad

bench: deps-test build/build.ninja ## timings beside a reference; NAME=plan for one group
	@scripts/build build bench_programs
	@bench/run $(NAME)

mutants: deps-test ## would the tests notice? SEED=1,2,3 COUNT=30 MODULE=fit,sim
	@tools/mutants/mutants.py --seed $(SEED) --count $(COUNT) --module '$(MODULE)'

fmt: deps-test ## clang-format over the tree
	@$(SOURCES) | xargs clang-format -i

tidy: deps-test build/build.ninja ## clang-tidy over the tree
	@scripts/build build
	@tests/tidy/check clang-tidy-deep --build build

fuzz: deps-test ## every fuzzer, or NAME="lldp ptm"; RUNS executions each
	@scripts/fuzz $(RUNS) $(NAME)

asan: deps-test build-asan/build.ninja ## build-asan/bin/myriad, with the sanitizers
	@scripts/build build-asan

web: ## web/dist, the page as it is built into the program; needs npm
	@web/build

bug-report: ## version, configuration without secrets, logs: one file to send; FOLDER= of a server
	@scripts/bug-report $(FOLDER)

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
