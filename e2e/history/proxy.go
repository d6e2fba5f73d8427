package history

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// proxyAnswer is the answer of a proxy between a node and the store. It has no request id of the
// store's, and the proxy's clock is wrong by an hour or so.
func proxyAnswer(seed uint64) *http.Response {
	dice := rand.New(rand.NewPCG(seed, 0))
	status := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}[dice.IntN(6)]
	wrong := time.Hour + time.Duration(dice.Int64N(int64(time.Minute)))
	if dice.IntN(2) == 0 {
		wrong = -wrong
	}
	body := "<html><body>the upstream server said nothing</body></html>"
	header := http.Header{}
	header.Set("Content-Type", "text/html")
	header.Set("Date", time.Now().Add(wrong).UTC().Format(http.TimeFormat))
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}
