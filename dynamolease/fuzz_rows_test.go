package dynamolease

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
	"github.com/dynamolease/dynamolease/internal/storeclock"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const (
	plainLease    = "pk S L#orders\nsk S P#0000000007\nowner S a\nepoch N 1767225600000\nexp N 1767225610000\nttl N 1767312010\nrev S r\n"
	sessionLease  = "pk S L#orders\nsk S P#0000000007\nowner S a\nepoch N 5\nservice S shop\nsession S a#1\nrev S r\nrevoked N 1\n"
	freeLease     = "pk S L#orders\nsk S P#9999999999\nepoch N 9223372036854775807\nrev S r\nttl N 1\ncheckpoint B where\nwork S w\n"
	plainMember   = "pk S M#shop\nsk S N#a\nnode S a\naddress S a:1\ngroups L orders,refunds\nexp N 1767225610000\nttl N 1767229211\nrev S r\n"
	sessionMember = "pk S M#shop\nsk S N#a#1\nnode S a\naddress S -\ntakes S 7*0\nsession S a#1\nopened N 3\nleft N 4\nexp N 1\nttl N 2\nrev S r\nrevoked L 5 P#0000000007 L#orders\n"
	drainedNode   = "pk S M#shop\nsk S D#a\nnode S a\ndrained N 1\nrev S r\n"
)

// tableRow is a row as a table can have it: with a key of two strings that are not empty.
func tableRow(text string) rowstore.Item {
	row := testkit.Row(text)
	for _, name := range []string{rowstore.AttrPK, rowstore.AttrSK} {
		if textOf(row[name]) == "" {
			row[name] = rowstore.Text("none")
		}
	}
	return row
}

// written is the row after an update that sets these attributes.
func written(row rowstore.Item, attributes []rowstore.Attribute) rowstore.Item {
	next := maps.Clone(row)
	for _, a := range attributes {
		if a.Value == nil {
			delete(next, a.Name)
		} else {
			next[a.Name] = a.Value
		}
	}
	return next
}

// checkMalformed checks that the error of a row that cannot be read says which row and which attribute.
func checkMalformed(t *testing.T, text string, row rowstore.Item, err error) {
	t.Helper()
	var malformed *RowError
	if !errors.As(err, &malformed) {
		t.Fatalf("%q: the error is %T %v", text, err, err)
	}
	if malformed.Attribute == "" || malformed.Problem == "" || malformed.PK != textOf(row[rowstore.AttrPK]) || malformed.SK != textOf(row[rowstore.AttrSK]) {
		t.Errorf("%q: the error names something else: %v", text, err)
	}
}

func textOf(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// Whatever a lease's row is: it is read as what it says, or is an error that names it. It is free only if it has no owner.
func FuzzLeaseRow(f *testing.F) {
	for _, text := range []string{
		plainLease, sessionLease, freeLease, plainLease + "epoch N -1\n", plainLease + "exp S soon\n", plainLease + "owner S \n",
		plainLease + "owner NULL\n", plainLease + "lasts N 10000\n", plainLease + "lasts S long\n", freeLease + "lasts N 1\n", sessionLease + "service N 1\n", freeLease + "epoch N 9223372036854775808\n", plainLease + "sk S P#-000000007\n",
		plainLease + "checkpoint S text\n", plainLease + "rev SS a,b\n", plainLease + "exp N 1e13\n", "",
		freeLease + "exp N 1\n", freeLease + "session S a#1\n", freeLease + "service S shop\n", plainLease + "service S shop\n",
		sessionLease + "exp N 1\n", freeLease + "owner S a\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		row := tableRow(text)
		read, err := decodeLease(row)
		if err != nil {
			checkMalformed(t, text, row, err)
			return
		}
		_, owned := row[attrOwner]
		switch {
		case owned != (read.owner != ""):
			t.Errorf("%q is read as that of %q", text, read.owner)
		case owned && read.inSession() == (read.exp > 0):
			t.Errorf("%q is read with the expiry %d and the session %v", text, read.exp, read.session)
		case read.epoch <= 0 || read.rev == "":
			t.Errorf("%q is read with epoch %d and rev %q", text, read.epoch, read.rev)
		}
		again, err := decodeLease(written(row, read.Attributes()))
		if err != nil || !reflect.DeepEqual(again, read) {
			t.Errorf("%q is read as %+v, and when written so as %+v, %v", text, read, again, err)
		}
		if strings.HasPrefix(read.key.PK, leasePrefix) { // which is what rows of leases are read by
			_ = read.lease()
		}
	})
}

// Whatever the row of a member or of a drained node is, it is read as what it says, or is an error that names it.
func FuzzServiceRow(f *testing.F) {
	for _, text := range []string{
		plainMember, sessionMember, drainedNode, plainMember + "groups S orders\n", plainMember + "groups SS a,b\n",
		plainMember + "node S b\n", sessionMember + "session S b#1\n", sessionMember + "opened N 0\n", drainedNode + "drained BOOL true\n",
		drainedNode + "drained N 0\n", plainMember + "exp N 99999999999999999999\n", "pk S M#shop\nsk S X\n", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		row := tableRow(text)
		read, err := decodeService(row)
		if err != nil {
			checkMalformed(t, text, row, err)
			return
		}
		attributes := read.member.Attributes()
		if read.drain.node != "" {
			attributes = read.drain.Attributes()
		}
		again, err := decodeService(written(row, attributes))
		if err != nil || !reflect.DeepEqual(again, read) {
			t.Errorf("%q is read as %+v, and when written so as %+v, %v", text, read, again, err)
		}
	})
}

// now is a moment at which the store's time is at the most a second from this.
func now(at time.Time) rowstore.Moment {
	bounds := storeclock.Bounds{Earliest: at.Add(-time.Second), Latest: at.Add(time.Second)}
	return new(rowstore.Time).At(bounds)
}

// Whatever a row with a ttl is: it is deleted only if it is one of this library's, can be read, and nothing lives in it.
func FuzzReapedRow(f *testing.F) {
	const head = "pk S P#node\nsk S HEAD\nttl N 1\n"
	const fence = "pk S P#node\nsk S F#6f1f1f0c-6d35-4c5c-9d0b-0a3a3f6b2c11\nnode S node\nttl N 1\n"
	for _, text := range []string{
		plainLease, sessionLease + "ttl N 1\n", freeLease, plainMember, sessionMember, drainedNode + "ttl N 1\n", head, fence,
		plainLease + "ttl S 1\n", "pk S other\nsk S x\nttl N 1\n", "pk S P#node\nsk S T#1\nttl N 1\n", "",
	} {
		f.Add(text, int64(1767225605))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		row, at := tableRow(text), now(time.Unix(seconds%(1<<33), 0))
		due, err := judgeDue(row, at)
		if err != nil {
			checkMalformed(t, text, row, err)
			return
		}
		if due.kept {
			return
		}
		lease, leaseErr := decodeLease(row)
		service, serviceErr := decodeService(row)
		switch prefix := due.key.PK[:min(2, len(due.key.PK))]; {
		case due.ttl == "" || due.key.PK != textOf(row[rowstore.AttrPK]) || due.key.SK != textOf(row[rowstore.AttrSK]):
			t.Errorf("%q is to be deleted as %+v", text, due)
		case prefix == leasePrefix && (leaseErr != nil || lease.inSession() || lease.unexpired(at) || due.rev != lease.rev):
			t.Errorf("%q is a lease and is to be deleted: %+v, %v", text, due, leaseErr)
		case prefix == memberPrefix && (serviceErr != nil || service.member.live(at) || due.rev == ""):
			t.Errorf("%q is of a service and is to be deleted: %+v, %v", text, due, serviceErr)
		case prefix == processPrefix && due.key.SK == processHead:
			t.Errorf("%q is a head and is to be deleted", text)
		case prefix != leasePrefix && prefix != memberPrefix && prefix != processPrefix:
			t.Errorf("%q is somebody else's and is to be deleted", text)
		}
	})
}

// Whatever the reaper's position is: it is one to begin from, and is the same when it is written again, or is none.
func FuzzPosition(f *testing.F) {
	f.Add("0.pk S L#orders\n0.sk S P#0000000007\n1 NULL\n2 M\n", 3)
	f.Add("0 NULL\n1 NULL\n", 2)
	f.Add("0.pk S L#orders\n", 1)
	f.Add("0.pk N 1\n0.sk S x\n", 1)
	f.Add("0 S x\n", 1)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, segments int) {
		list := testkit.List(testkit.Row(text))
		read, ok := decodePosition(list, segments)
		if !ok {
			return
		}
		if len(read) != segments || read.complete() {
			t.Errorf("%q is read as %v for %d segments", text, read, segments)
		}
		for _, place := range read {
			if start := place.start(); !place.done && start != nil && (textOf(start[rowstore.AttrPK]) == "" || textOf(start[rowstore.AttrSK]) == "") {
				t.Errorf("%q begins at %v", text, start)
			}
		}
		if again, ok := decodePosition(read.value(), segments); !ok || !reflect.DeepEqual(again, read) {
			t.Errorf("%q is read as %v, and when written so as %v", text, read, again)
		}
	})
}
