# make help lists what there is. Each target does its own set-up.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# With -short, tables of each operation and each fault have a third of their cases.
TESTFLAGS   ?= -race -short -count=1 -timeout 15m
LAMBDA_ARCH ?= arm64
CDK         := npx --yes aws-cdk@2.1148.1

# Modules besides the root's, in which the heavy dependencies are.
MODULES := cmd/dynamolease tools infra/cdk otel docs/dashboards e2e

# Each module is built by its own go.mod, as its users build it. go.work is for commands by hand.
export GOWORK := off

# CDK's runtime says on each start how long it will support this version of Node.js.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION ?= 20

.PHONY: help demo test test-long test-root test-command test-tools test-otel test-cdk test-e2e test-aws \
	proof proof-short proof-aws planted promises fuzz bench bench-builders lambda deploy destroy lint fmt ci

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1|/' | column -t -s '|'

demo: ## the main job on real input: four worker processes count the words of the Go standard library
	cd tools && $(GO) run ./demo

test: ## the tests of all modules, two at a time, on databases of their own; what each prints comes when it has ended
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-root test-e2e test-cdk test-command test-tools test-otel

test-long: ## those of the library with every case of every table
	DYNAMODB_REQUIRED=1 $(GO) test -race -count=1 -timeout 60m ./...

test-root: ## those of the library and the reaper, with the race detector
	DYNAMODB_REQUIRED=1 $(GO) test $(TESTFLAGS) ./...

test-command: ## those of the operators' command
	cd cmd/dynamolease && DYNAMODB_REQUIRED=1 $(GO) test $(TESTFLAGS) ./...

test-tools: ## those of the demo and the benchmark
	cd tools && DYNAMODB_REQUIRED=1 $(GO) test $(TESTFLAGS) ./...

test-otel: ## the adapter for OpenTelemetry, and the dashboard's queries in Prometheus's own engine
	cd otel && DYNAMODB_REQUIRED=1 $(GO) test $(TESTFLAGS) ./...
	cd docs/dashboards && DYNAMODB_REQUIRED=1 $(GO) test -count=1 -timeout 15m ./...

test-cdk: ## the CDK construct, and its template applied to a real database and the real reaper; no account needed
	cd infra/cdk && DYNAMODB_REQUIRED=1 $(GO) test -count=1 -timeout 15m ./...

test-e2e: proof-short ## the short run of the proof, and the tests of its tools
	cd e2e && $(GO) test -count=1 ./planted ./promises ./proof

proof: ## the long run: histories, simulated fleets, chaos; seeds from the clock
	cd e2e && $(GO) run ./proof -long

proof-short: ## the same with fixed seeds, in some two minutes
	cd e2e && $(GO) run ./proof

proof-aws: ## the histories against DynamoDB itself
	cd e2e && $(GO) run ./proof -aws

planted: ## plant mistakes into the library, each of which the suites have to catch
	cd e2e && $(GO) run ./planted

FUZZTIME ?= 10s

fuzz: ## each fuzz test of what is read from the table or from outside, for FUZZTIME
	@grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z]+' dynamolease internal lambda tools | sed -E 's|/[^/]*:func | |' | \
		while read -r folder name; do echo "$$folder $$name"; \
			(cd "$$folder" && $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) . </dev/null) || exit 1; \
		done

promises: ## the tests of each promise
	@cd e2e && $(GO) run ./promises

test-aws: ## those of the library against DynamoDB itself: the usual AWS configuration, a table of its own
	DYNAMOLEASE_TEST_AWS=1 $(GO) test $(TESTFLAGS) -timeout 60m ./dynamolease/...

bench: ## what the library costs, beside bare SDK calls and other patterns; writes docs/cost.md, its figures and its plots
	cd tools && $(GO) run ./bench --docs ../docs

bench-builders: ## the store's expressions and decoder beside those of the SDK
	cd tools && $(GO) test -run '^$$' -bench . ./internal/builders

lambda: ## the reaper for AWS Lambda, in dist/lambda/reaper (LAMBDA_ARCH=amd64 for the other architecture)
	CGO_ENABLED=0 GOOS=linux GOARCH=$(LAMBDA_ARCH) $(GO) build -tags lambda.norpc -trimpath -buildvcs=false \
		-ldflags="-s -w -buildid=" -o dist/lambda/reaper/bootstrap ./lambda/reaper

deploy: lambda ## provision the table, its reaper and its alarms in your AWS account (cdk bootstrap it once before)
	cd infra/cdk && $(CDK) deploy

destroy: lambda ## take that away again; the table and its rows stay
	cd infra/cdk && $(CDK) destroy

lint: ## formatting, vet, staticcheck, in all modules; and that the programs build in the workspace, too
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run make fmt"; exit 1; }
	@for module in . $(MODULES); do echo "lint $$module"; \
		(cd $$module && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...) || exit 1; done
	GOWORK= $(GO) build ./cmd/dynamolease/... ./tools/...

fmt: ## format the code
	gofmt -w .

ci: lint test ## what must pass before anything lands
