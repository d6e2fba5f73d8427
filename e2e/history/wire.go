package history

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// A wire sends one request at a time to the server and reads the answer. It keeps one connection,
// and has no goroutine. In a synctest bubble a request under way stops the clock, and an idle
// connection does not delay anything.
type wire struct {
	endpoint *url.URL
	over     http.RoundTripper                                 // instead of its own connection; nil in virtual time
	sdk      func(...func(*dynamodb.Options)) *dynamodb.Client // with the credentials for over
	conn     net.Conn
	answers  *bufio.Reader
}

func (w *wire) send(header http.Header, body []byte) (*http.Response, []byte, error) {
	response, content, err := w.try(header, body)
	if err == nil {
		return response, content, nil
	}
	w.close()
	return nil, nil, fmt.Errorf("send to %s: %w", w.endpoint, err)
}

func (w *wire) try(header http.Header, body []byte) (*http.Response, []byte, error) {
	request := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Scheme: w.endpoint.Scheme, Host: w.endpoint.Host, Path: "/"}, Host: w.endpoint.Host,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	response, err := w.exchange(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

func (w *wire) exchange(request *http.Request) (*http.Response, error) {
	if w.over != nil {
		return w.over.RoundTrip(request)
	}
	if w.conn == nil {
		conn, err := net.Dial("tcp", w.endpoint.Host)
		if err != nil {
			return nil, err
		}
		w.conn, w.answers = conn, bufio.NewReader(conn)
	}
	if err := request.Write(w.conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(w.answers, request)
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}
