package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Whatever code and status the store answers with: what may have been written is never taken for not written, a wrapped
// error is judged like the error itself, and only what is known to be harmless is tried again without a doubt.
func FuzzClassify(f *testing.F) {
	for _, code := range []string{
		"ThrottlingException", "ValidationException", "IdempotentParameterMismatchException", "TransactionInProgressException",
		"ConditionalCheckFailedException", "ResourceNotFoundException", "AccessDeniedException", "InternalServerError", "ExpiredTokenException", "",
	} {
		for _, status := range []int{0, 200, 400, 429, 500, 503} {
			f.Add(code, status)
		}
	}
	f.Fuzz(func(t *testing.T, code string, status int) {
		err := coded(status, code)
		outcome := Classify(err)
		switch {
		case Classify(fmt.Errorf("renew: %w", err)) != outcome, Classify(errors.Join(errors.New("other"), err)) != outcome:
			t.Errorf("%q with %d is %v, and something else when wrapped", code, status, outcome)
		case outcome == Done || outcome == Refused:
			t.Errorf("%q with %d is %v", code, status, outcome)
		case Classify(fmt.Errorf("renew: %w", &unsent{err})) != NotDone, TurnedAway(&unsent{err}), Denied(&unsent{err}), NoTable(&unsent{err}):
			t.Errorf("%q with %d counts although nothing was sent", code, status)
		case outcome == NotDone && !notApplied(code) && code != "ExpiredTokenException" && status != 429:
			t.Errorf("%q with %d counts as not done", code, status)
		case outcome == Failed && (mayBeApplied(code) || status < 400 || status >= 500):
			t.Errorf("%q with %d counts as failed", code, status)
		case TurnedAway(err) != (outcome == NotDone) && code != "ExpiredTokenException":
			t.Errorf("%q with %d is %v, and turned away is %v", code, status, outcome, TurnedAway(err))
		}
	})
}

// Whatever the reasons of a cancelled transaction: it wrote nothing, and was refused if a condition of it did not hold.
func FuzzClassifyReasons(f *testing.F) {
	for _, codes := range []string{
		"ConditionalCheckFailed", "None,TransactionConflict", "None,None", "ValidationError,ConditionalCheckFailed", "Unheard", "", "None,ThrottlingError,Unheard",
	} {
		f.Add(codes)
	}
	f.Fuzz(func(t *testing.T, text string) {
		codes := strings.Split(text, ",")
		err := cancelled(codes...)
		outcome := Classify(err)
		each := make([]Outcome, len(codes))
		for i, code := range codes {
			each[i] = ClassifyReason(types.CancellationReason{Code: &code})
		}
		want := NotDone
		switch {
		case slices.Contains(each, Refused):
			want = Refused
		case slices.Contains(each, Failed):
			want = Failed
		}
		if outcome != want {
			t.Errorf("%q is %v, want %v", text, outcome, want)
		}
	})
}
