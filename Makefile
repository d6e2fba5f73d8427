# make help lists what there is. Each target does its own set-up.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
TESTFLAGS   ?= -race -count=1 -timeout 8m

LAMBDA_ARCH ?= arm64

.PHONY: help demo test test-aws bench lambda lint fmt ci

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | column -t -s '|'

demo: ## the main job on real input: four worker processes count the words of the Go standard library
	$(GO) run ./cmd/dynamolease demo

test: ## all tests, on a database of their own, with the race detector
	DYNAMODB_REQUIRED=1 $(GO) test $(TESTFLAGS) ./...

test-aws: ## the same against DynamoDB itself: the usual AWS configuration, a table of its own
	DYNAMOLEASE_TEST_AWS=1 $(GO) test $(TESTFLAGS) -timeout 60m ./dynamolease/...

bench: ## each operation beside the bare SDK calls that send the same requests
	$(GO) run ./internal/bench

lambda: ## the reaper for AWS Lambda, in dist/lambda/reaper (LAMBDA_ARCH=amd64 for the other architecture)
	CGO_ENABLED=0 GOOS=linux GOARCH=$(LAMBDA_ARCH) $(GO) build -tags lambda.norpc -trimpath -buildvcs=false \
		-ldflags="-s -w -buildid=" -o dist/lambda/reaper/bootstrap ./lambda/reaper

lint: ## formatting, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run make fmt"; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

fmt: ## format the code
	gofmt -w .

ci: lint test ## what must pass before anything lands
