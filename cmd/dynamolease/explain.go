package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// explain is an error in the words of the command: what to do where it is the settings.
func (p *program) explain(err error) string {
	var missing *types.ResourceNotFoundException
	var argument *dynamolease.ArgumentError
	var api smithy.APIError
	var dial *net.OpError
	var lookup *net.DNSError
	var garbled *smithy.DeserializationError
	switch {
	case errors.As(err, &missing):
		return fmt.Sprintf("table %q does not exist in this account and Region: check --table, --region, --profile and --endpoint-url, or make it with: dynamolease table create", p.table)
	case errors.As(err, &argument):
		return flagOf(argument.Argument) + " " + argument.Problem
	case errors.As(err, &api) && rejected(api.ErrorCode()):
		return fmt.Sprintf("the credentials are not accepted (%s): renew them, or choose others with --profile or AWS_PROFILE", api.ErrorCode())
	case errors.As(err, &dial), errors.As(err, &lookup):
		return fmt.Sprintf("%v\nthe endpoint cannot be reached: check --endpoint-url, --region and the network", err)
	case errors.As(err, &garbled):
		return fmt.Sprintf("%v\nthat is no answer of DynamoDB: check --endpoint-url", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%v\nit took longer than --timeout allows (%v)", err, p.timeout)
	}
	return err.Error()
}

// rejected tells whether an error code is about who asks.
func rejected(code string) bool {
	switch code {
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "InvalidClientTokenId", "MissingAuthenticationTokenException",
		"IncompleteSignatureException":
		return true
	}
	return false
}

// flagOf is the command's name for an argument of the library.
func flagOf(argument string) string {
	if field, ok := strings.CutPrefix(argument, "ReapConfig."); ok {
		return "--" + strings.ToLower(field)
	}
	if argument == "table" {
		return "--table"
	}
	return strings.ToUpper(argument)
}
