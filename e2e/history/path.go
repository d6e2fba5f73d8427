package history

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A path leads from one node to the database, through weather. It is the HTTP client of the node's
// SDK client.
type path struct {
	db     *database
	sky    *sky
	dates  *dates
	counts *faultCount
	late   *latecomers
	roads  *traffic // nil for none
	links  *links   // nil for none
	wallet *wallet
}

// newPath returns a path for a node or a boot, with dice of its own.
func (w *world) newPath(dice *rand.Rand) *path {
	stream := func() *rand.Rand { return rand.New(rand.NewPCG(dice.Uint64(), 0)) }
	return &path{
		db: w.db, sky: &sky{dice: stream(), rate: w.rate, proxied: w.proxied, remote: w.remote}, counts: &w.counts, late: &w.late, roads: w.roads,
		dates: &dates{dice: stream(), lying: w.lying, own: w.blur > 0}, links: &links{machines: w.machines, dice: stream()},
		wallet: &wallet{dice: stream(), fails: w.penniless},
	}
}

// quietPath returns a path for the test itself, on which nothing goes wrong.
func (w *world) quietPath() *path {
	dice := rand.New(rand.NewPCG(0, 0))
	return &path{
		db: w.db, sky: &sky{dice: dice}, counts: &w.counts, late: &w.late,
		dates: &dates{dice: dice, own: w.blur > 0}, wallet: &wallet{},
	}
}

// client returns an SDK client whose requests take this path.
func (p *path) client() *dynamodb.Client {
	if p.db.wire.sdk != nil {
		return p.db.wire.sdk(func(o *dynamodb.Options) { o.HTTPClient = p })
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(p.db.wire.endpoint.String()), HTTPClient: p, Credentials: p.wallet,
	})
}

// Do sends a request through the weather that it meets.
func (p *path) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	p.db.reach(req.URL)
	target := req.Header.Get("X-Amz-Target")
	m := &message{
		ctx: req.Context(), call: callOf(req.Context()), op: target[strings.LastIndexByte(target, '.')+1:],
		header: req.Header, body: body, sent: p.db.tick(),
	}
	if m.call != nil {
		m.call.request()
	}
	link := p.links.take(req.Context())
	w := p.sky.next(m.op)
	m.age = w.age
	p.met(m, w.what)
	response, err := p.pass(m, w)
	p.links.give(link, err == nil, req.Close)
	if err != nil {
		return nil, err
	}
	if response.Header.Get("X-Amzn-Requestid") != "" { // otherwise a proxy made it
		p.met(m, p.dates.stamp(response.Header, p.links.error(link)))
	}
	response.Request = req
	return response, nil
}

func (p *path) met(m *message, what fault) {
	if what == none {
		return
	}
	p.counts.add(what)
	if m.call != nil {
		m.call.meet(what)
	}
}

// pass sends one request through its weather.
func (p *path) pass(m *message, w weather) (*http.Response, error) {
	if w.what == frozenBefore {
		time.Sleep(w.delay) // even if the context ends: a process that stands still sees no deadline
	}
	if err := m.wait(w.up); err != nil && w.what != frozenBefore {
		return nil, err
	}
	switch w.what {
	case lostRequest:
		return nil, m.silence(w.heads, "write")
	case cutOff:
		if w.heads { // it waits on the way, and arrives when the cut ends
			p.deliverLate(m, w.delay)
		}
		return nil, m.silence(false, "write")
	case hungRequest:
		return nil, m.silence(false, "write")
	case lostAnswer, hungAnswer:
		if _, _, err := p.deliver(m); err != nil {
			return nil, err
		}
		return nil, m.silence(w.what == lostAnswer, "read")
	case delayedRequest:
		if err := m.wait(w.delay); err != nil {
			return nil, err
		}
	case lateRequest, hungLateRequest:
		p.deliverLate(m, w.delay)
		return nil, m.silence(w.what == lateRequest, "read")
	case doubledRequest, doubledLate:
		return p.double(m, w)
	case conflict:
		return p.busy(m, "TransactionConflict", dynamotest.Conflict())
	case throttled:
		return p.busy(m, "ThrottlingError", dynamotest.Throttle())
	case inProgress:
		return dynamotest.Reply(http.StatusBadRequest, "TransactionInProgressException", "in progress")(m.request(), nil)
	case serverError, unavailable:
		return dynamotest.ServerError(map[fault]int{serverError: 500, unavailable: 503}[w.what])(m.request(), nil)
	case proxied:
		return proxyAnswer(w.torn), nil
	case proxiedApplied:
		if _, _, err := p.deliver(m); err != nil {
			return nil, err
		}
		return proxyAnswer(w.torn), nil
	case serverErrorApplied:
		if _, _, err := p.deliver(m); err != nil {
			return nil, err
		}
		return dynamotest.ServerError(500)(m.request(), nil)
	case tornQuery:
		return p.tear(m, w)
	case delayedAnswer:
		return p.answer(m, w.delay)
	case frozenAfter:
		response, d, err := p.deliver(m)
		time.Sleep(w.delay)
		d.answered = err == nil
		return response, err
	}
	return p.answer(m, w.down)
}

// answer delivers the request and returns the answer after a while.
func (p *path) answer(m *message, after time.Duration) (*http.Response, error) {
	response, d, err := p.deliver(m)
	if err != nil {
		return nil, err
	}
	if err := m.wait(after); err != nil {
		return nil, err
	}
	d.answered = true
	return response, nil
}

func (p *path) deliver(m *message) (*http.Response, *delivery, error) {
	keys, when := p.db.related(m.writes()), p.sky.toss()
	if len(keys) == 0 && when < 2 { // a read: at worst, the caller judges a row that is about to change
		keys, when = p.db.expired(m.keys()), 1
	}
	if when == 0 {
		p.late.strike(keys)
	}
	response, d, err := p.hand(m)
	if when == 1 {
		p.late.strike(keys)
	}
	return response, d, err
}

func (p *path) hand(m *message) (*http.Response, *delivery, error) {
	d := &delivery{call: m.call, op: m.op, sent: m.sent, age: m.age}
	keys := m.writes()
	if reason, at := p.roads.turnAway(keys, m.op == "TransactWriteItems"); reason != "" {
		p.met(m, crowded)
		response, err := refuse(m, keys, reason, at)
		return response, d, err
	}
	response, err := p.db.deliver(m.header, m.body, d)
	return response, d, err
}

// deliverLate delivers the request after the caller has stopped waiting for it.
func (p *path) deliverLate(m *message, after time.Duration) {
	p.late.add(m.writes(), after, func() { _, _, _ = p.hand(m) })
}

// double delivers the request twice. The client gets the second answer. In the late case it gets
// the first answer, long before the second delivery.
func (p *path) double(m *message, w weather) (*http.Response, error) {
	if w.what == doubledLate {
		response, err := p.answer(m, w.down)
		p.deliverLate(m, w.delay)
		return response, err
	}
	if _, _, err := p.deliver(m); err != nil {
		return nil, err
	}
	if err := m.wait(w.delay); err != nil {
		return nil, err
	}
	return p.answer(m, w.down)
}

// busy refuses the request. For a transaction it gives the reason as that of the last item.
func (p *path) busy(m *message, reason string, otherwise dynamotest.Fault) (*http.Response, error) {
	var request requestBody
	if m.op != "TransactWriteItems" || json.Unmarshal(m.body, &request) != nil || len(request.TransactItems) == 0 {
		return otherwise(m.request(), nil)
	}
	reasons := make([]string, len(request.TransactItems))
	for i := range reasons {
		reasons[i] = "None"
	}
	reasons[len(reasons)-1] = reason
	return dynamotest.Cancelled(reasons...)(m.request(), nil)
}
