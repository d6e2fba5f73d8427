package dynamotest

import (
	"net/http"
	"sync"
)

// Door holds requests at the server's door until it is opened, so that a test can do something
// between the sending of a request and its arrival:
//
//	door := dynamotest.NewDoor()
//	transport.Next("UpdateItem", door.Hold)
//	go client.UpdateItem(...)
//	<-door.Arrived()
//	// Do something else first.
//	door.Release()
type Door struct {
	arrived  chan struct{}
	released chan struct{}
	arrive   sync.Once
	release  sync.Once
}

// NewDoor returns a closed Door. Call it inside the synctest bubble that uses it, if any.
func NewDoor() *Door {
	return &Door{arrived: make(chan struct{}), released: make(chan struct{})}
}

// Hold is a Fault: the request waits until Release. If its context ends meanwhile it is not sent.
func (d *Door) Hold(req *http.Request, send Send) (*http.Response, error) {
	d.arrive.Do(func() { close(d.arrived) })
	if err := wait(req, d.released); err != nil {
		return nil, err
	}
	return send(req)
}

// Arrived returns a channel that is closed when the first request arrives at the door.
func (d *Door) Arrived() <-chan struct{} { return d.arrived }

// Release lets all requests in, also those yet to come. It may be called more than once.
func (d *Door) Release() { d.release.Do(func() { close(d.released) }) }
