package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

func main() {
	ctx, stop := context.WithCancelCause(context.Background())
	log := lambdacontext.NewLogger()
	f := newFunction(ctx, os.Getenv, log, os.Stdout)
	lambda.StartWithOptions(f.invoke, lambda.WithContext(ctx), lambda.WithEnableSIGTERM(func() {
		log.Info("shutting down")
		stop(errShutdown)
	}))
}
