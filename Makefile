# Everything a developer or CI runs. `make help` lists the targets; the work of the longer ones is in scripts/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

# One set of flags for build, lint and system tests, so that they share one build cache: the collector's
# dependencies take minutes to compile. A caller's own GOFLAGS are kept.
TAGS := remove_all_sd,grpcnotrace
OUR_GOFLAGS := -trimpath -tags=$(TAGS)
export GOFLAGS := $(filter-out $(OUR_GOFLAGS),$(GOFLAGS)) $(OUR_GOFLAGS)
export CGO_ENABLED := 0

# Tools are built from internal/tools/go.mod. TOOLS may point elsewhere, which the test of `make generate` uses.
TOOLS ?= $(CURDIR)/bin/tools
GOLANGCI := $(TOOLS)/golangci-lint
GENERATORS := $(TOOLS)/builder $(TOOLS)/mdatagen $(TOOLS)/gofumpt
builder := go.opentelemetry.io/collector/cmd/builder
mdatagen := go.opentelemetry.io/collector/cmd/mdatagen
gofumpt := mvdan.cc/gofumpt
golangci-lint := github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Commands that list packages of ours: all but the generated main; those that run without the built programs; the rest.
OURS := go list -tags $(TAGS),pitwall_nvml_stub -f '{{.Dir}}' ./... | grep -v '/cmd/pitwall$$'
UNIT := go list ./... | grep -vE '/pitwall/(test|cmd)(/|$$)'
SYSTEM := go list ./test/... ./cmd/... | grep -v '/test/distribution$$'
METADATA = $(shell find $(wildcard receiver processor connector exporter extension internal) -name metadata.yaml -not -path '*/testdata/*' | sort)
STAGE := scripts/stage

# NVIDIA's library is reached with cgo, by this program only. Its functions are bound when they are called: half of
# them are missing in any driver. Where there is no compiler a program without cgo says so to the collector; it needs a
# tag, so that no `go build ./cmd/...` puts it in the place of the real one.
NVML := CGO_ENABLED=1 CGO_CFLAGS=-Wno-deprecated-declarations \
	go build -ldflags '-s -w -extldflags=-Wl,-z,lazy' -o bin/ ./cmd/pitwall-nvml
NVML_STUB := go build -ldflags '-s -w' -tags pitwall_nvml_stub -o bin/ ./cmd/pitwall-nvml

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

.PHONY: deps
deps: node_modules/.package-lock.json ## Check the tools, fetch the embedded engine and the JavaScript clients
	@scripts/deps

# --no-audit, --no-fund: nothing here needs them. The engine is 566 MB, so it is fetched only when the lock file changed.
node_modules/.package-lock.json: package.json package-lock.json
	@scripts/deps --tools-only
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: build
build: ## Build bin/pitwall and its helper programs
	go build -ldflags '-s -w' -o bin/ ./cmd/...
	@if command -v "$${CC:-gcc}" >/dev/null; then $(NVML); \
		else $(NVML_STUB); echo "make build: no C compiler: bin/pitwall-nvml cannot read GPUs"; fi

.PHONY: run
run: deps build ## Build and start the collector with the embedded engine; Ctrl-C stops both
	@scripts/run

.PHONY: demo
demo: deps build ## make run with simulated training runs in it, past and live; SICK=1 adds one with troubles
	go build -ldflags '-s -w' -o bin/demo ./test/demo
	@scripts/demo

.PHONY: test
test: ## What CI runs: deps, build, generated code, lint, unit tests with -race, system tests, dashboards
	@$(STAGE) deps $(MAKE) --no-print-directory deps
	@$(STAGE) build $(MAKE) --no-print-directory build
	@$(STAGE) distribution go test -count=1 ./test/distribution
	@$(STAGE) lint $(MAKE) --no-print-directory lint
	@$(STAGE) unit $(MAKE) --no-print-directory unit
	@$(STAGE) system $(MAKE) --no-print-directory system
	@$(STAGE) panels $(MAKE) --no-print-directory panels
	@echo "make test: all stages passed"

.PHONY: unit
unit: ## Unit tests of our packages with the race detector
	@packages=$$($(UNIT)); CGO_ENABLED=1 go test -race -timeout 15m $$packages

.PHONY: system
system: ## System tests: the real binaries and the embedded engine (make deps build first)
	@packages=$$($(SYSTEM)); go test -count=1 -timeout 20m $$packages

.PHONY: panels
panels: ## Every query of the dashboards and alert rules, asked as Grafana does (make deps build first)
	cd test/panels && go test -count=1 -timeout 20m ./...

.PHONY: soak
soak: deps build ## The faults of docs/operations.md, ten times as long: 200 kills and more (half an hour)
	PITWALL_SOAK=1 go test -count=1 -v -parallel 4 -timeout 3h ./test/faults

.PHONY: bench
bench: deps build ## Benchmarks of hot paths, then the figures of docs/benchmarks.md (half an hour)
	@packages=$$($(UNIT)); go test -run '^$$' -bench . -benchmem $$packages
	go run ./test/bench -rounds 5

.PHONY: generate
generate: $(GENERATORS) ## Write cmd/pitwall, the schema's and the components' generated code, and format everything
	$(TOOLS)/builder --config builder-config.yaml --skip-get-modules --skip-compilation
	go run ./schema/generate
	go run ./dashboards/generate
	for f in $(METADATA); do (cd $$(dirname $$f) && $(TOOLS)/mdatagen metadata.yaml); done
	$(TOOLS)/gofumpt -w .

.PHONY: previews
previews: deps build ## Draw the dashboards into docs/images, without a Grafana; needs chromium and 480 MB from npm
	@dashboards/preview/run

.PHONY: schema-diff
schema-diff: ## Say what schema/registry changes in the last released schema, and whether the version allows it
	@go run ./schema/generate -diff

.PHONY: lint
lint: $(GOLANGCI) ## Run the linters of .golangci.yaml
	@folders=$$($(OURS)); $(GOLANGCI) run $$folders

.PHONY: clean
clean: ## Remove what was built; data/, node_modules/ and the engine's library stay
	find bin -mindepth 1 -maxdepth 1 ! -name libchdb.so -exec rm -rf {} +

# A tool is built again when the pinned versions change.
$(TOOLS)/%: internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && GOFLAGS=-trimpath go build -ldflags '-s -w' -o $@ $($*)
