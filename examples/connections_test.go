package examples_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
)

// connected returns a configuration whose client keeps as many connections open as a store has
// requests in flight.
func connected(ctx context.Context) (aws.Config, error) {
	httpClient := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 64
	})
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(httpClient))
	return cfg, err
}

func TestConnections(t *testing.T) {
	cfg, err := connected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok || client.GetTransport().MaxIdleConnsPerHost != 64 {
		t.Errorf("the client is %+v", cfg.HTTPClient)
	}
}
