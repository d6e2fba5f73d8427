package coordinator

import "fmt"

// A failure is the error of a handler, with its text as it was when the handler returned it: the
// Error method is a user's code, and may be slow, or call back.
type failure struct {
	text string
	err  error
}

func newFailure(err error) (f *failure) {
	defer func() {
		if recover() != nil {
			f = &failure{fmt.Sprintf("an error of type %T, whose text panics", err), err}
		}
	}()
	return &failure{err.Error(), err}
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }
