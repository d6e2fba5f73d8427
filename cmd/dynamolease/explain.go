package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// explain returns the text of an error in the words of the command, with advice if the settings are
// wrong.
func (p *program) explain(err error) string {
	var late *operate.LimitError
	var missing *types.ResourceNotFoundException
	var argument *dynamolease.ArgumentError
	var api smithy.APIError
	var unfit *dynamolease.SetupError
	var row *dynamolease.RowError
	var dial *net.OpError
	var lookup *net.DNSError
	var record tls.RecordHeaderError
	var garbled *smithy.DeserializationError
	switch {
	case errors.As(err, &late):
		return err.Error() // names the limit
	case errors.As(err, &missing):
		return fmt.Sprintf("table %q does not exist in this account and Region, or is still being created: check --table, --region, --profile and "+
			"--endpoint-url, or make it with: dynamolease table create --table %s\n%v", p.table, p.table, behind(err))
	case errors.As(err, &unfit) && unfit.Err == nil:
		return fmt.Sprintf("%v\nto see what it is like: dynamolease table describe --table %s", err, p.table)
	case errors.As(err, &api) && api.ErrorCode() == "ValidationException":
		return fmt.Sprintf("table %q refuses what is asked of a table of leases: its keys may be others. What is wrong says: dynamolease table check --table %s; "+
			"to make a table under another name: dynamolease table create --table NAME\n%v", p.table, p.table, err)
	case errors.As(err, &row):
		return fmt.Sprintf("%v\nsomebody has to look at the row: see \"Rows that cannot be read\" in docs/operations.md", err)
	case errors.As(err, &argument):
		return flagOf(argument.Argument) + " " + argument.Problem
	case errors.As(err, &api) && rejected(api.ErrorCode()):
		return fmt.Sprintf("the credentials are not accepted (%s): renew them, or choose others with --profile or AWS_PROFILE", api.ErrorCode())
	case errors.As(err, &record):
		return fmt.Sprintf("%v\nthe endpoint does not speak TLS: its URL has to begin with http:// (--endpoint-url, AWS_ENDPOINT_URL or AWS_ENDPOINT_URL_DYNAMODB)", err)
	case errors.As(err, &dial) && dial.Op == proxyConnect:
		return fmt.Sprintf("%v\nthe proxy cannot be reached: check HTTP_PROXY, HTTPS_PROXY and NO_PROXY", err)
	case errors.As(err, &dial), errors.As(err, &lookup):
		return fmt.Sprintf("%v\nthe endpoint cannot be reached: check --endpoint-url, --region and the network", err)
	case errors.As(err, &garbled):
		return fmt.Sprintf("%v\nthat is no answer of DynamoDB: check --endpoint-url", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%v\nno answer came in time: the network or the database is slow, or away: try again, and check --endpoint-url and --region", err)
	}
	return err.Error()
}

// behind returns the SDK's own error.
func behind(err error) error {
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		return operation
	}
	return err
}

// rejected reports whether an error code is about the credentials.
func rejected(code string) bool {
	switch code {
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "InvalidClientTokenId", "MissingAuthenticationTokenException",
		"IncompleteSignatureException":
		return true
	}
	return false
}

// flagOf returns the command's name for an argument of the library.
func flagOf(argument string) string {
	if field, ok := strings.CutPrefix(argument, "ReapConfig."); ok {
		return "--" + strings.ToLower(field)
	}
	if field, ok := strings.CutPrefix(argument, "Access."); ok { // of a list, such as Groups[0]
		list, _, _ := strings.Cut(field, "[")
		return "--" + strings.TrimSuffix(strings.ToLower(list), "s")
	}
	if argument == "table" {
		return "--table"
	}
	return strings.ToUpper(argument)
}
