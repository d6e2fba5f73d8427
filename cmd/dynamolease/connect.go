package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/watch"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// A connection leads to the table.
type connection struct {
	operate.Table
	meter  *watch.Meter
	client *http.Client
}

func (c *connection) close() {
	c.Store.Close()
	c.client.CloseIdleConnections()
}

// connect prepares requests to the table, and sends none to it yet. Close the connection.
func (p *program) connect(ctx context.Context) (*connection, error) {
	if err := p.checkPlace(); err != nil {
		return nil, err
	}
	c := &connection{meter: new(watch.Meter)}
	var client *dynamodb.Client
	err := p.inTime(ctx, func(ctx context.Context) (err error) {
		client, err = p.database(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	store, err := dynamolease.New(client, p.table, func(o *dynamolease.Options) { o.Logger, o.OnRequest = p.logger(), c.meter.Add })
	if err != nil {
		return nil, err
	}
	c.Table = operate.Table{Name: p.table, Client: client, Store: store}
	return c, nil
}

// A table has a name and an ARN.
var (
	tableNames = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,255}$`)
	tableARNs  = regexp.MustCompile(`^arn:[a-z0-9-]+:dynamodb:[a-z0-9-]+:[0-9]+:table/[A-Za-z0-9_.-]{1,255}$`)
	regions    = regexp.MustCompile(`^[a-z0-9-]*$`)
)

// checkPlace checks the settings that say where the table is.
func (p *program) checkPlace() error {
	switch {
	case p.table == "":
		return misuse("no table is given: use --table, or set %s", tableVariable)
	case !tableNames.MatchString(p.table) && !tableARNs.MatchString(p.table):
		return misuse("--table %q is neither the name of a table (letters, digits, '_', '-' and '.') nor its ARN", p.table)
	case !regions.MatchString(p.region):
		return misuse("--region %q is not a Region such as eu-west-1", p.region)
	}
	_, err := parseEndpoint("--endpoint-url", p.endpoint)
	return err
}

// database returns a client with the usual AWS configuration, as changed by the flags.
func (p *program) database(ctx context.Context, c *connection) (*dynamodb.Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(p.region), config.WithSharedConfigProfile(p.profile),
		config.WithLogger(logging.Nop{})) // errors say what matters
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	c.client = &http.Client{Transport: http.DefaultTransport}
	if b, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok { // a client of our own, to close its connections
		c.client = &http.Client{Transport: b.GetTransport()}
	}
	set := func(o *dynamodb.Options) { o.HTTPClient = c.client }
	client := dynamodb.NewFromConfig(cfg, set, func(o *dynamodb.Options) {
		if p.endpoint != "" {
			o.BaseEndpoint = &p.endpoint
		}
	})
	local, err := c.reach(ctx, aws.ToString(client.Options().BaseEndpoint))
	switch {
	case err != nil:
		return nil, err
	case local:
		return dynamodb.New(client.Options(), set, p.withoutAccount), nil
	case client.Options().Region == "":
		return nil, misuse("no Region is given: use --region, set AWS_REGION, or choose a --profile that has one")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("there are no AWS credentials: log in, choose a --profile, or set AWS_PROFILE or AWS_ACCESS_KEY_ID: %w", err)
	}
	return client, nil
}

// parseEndpoint reads the URL of an endpoint. An empty one is no error.
func parseEndpoint(name, endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		return nil, misuse("%s %q is not a URL such as http://localhost:8000", name, endpoint)
	}
	return u, nil
}

// withoutAccount adds a Region and credentials if none are given. A database on this machine
// ignores them.
func (p *program) withoutAccount(o *dynamodb.Options) {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if p.profile == "" && os.Getenv("AWS_PROFILE") == "" && os.Getenv("AWS_ACCESS_KEY_ID") == "" {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local", Source: "local"}, nil
		})
	}
}

// logger writes warnings, without the time.
func (p *program) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}
