package hint

import "net/http"

// Handler returns the handler that takes hints: it calls look, which is [coordinator.Coordinator.Look],
// and answers 204. It accepts only POST, and reads nothing of what a request contains. look must not
// wait for anything.
//
// [coordinator.Coordinator.Look]: https://pkg.go.dev/github.com/dynamolease/dynamolease/dynamolease/coordinator#Coordinator.Look
func Handler(look func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // the server would read the rest of the body otherwise
		}
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		look()
		w.WriteHeader(http.StatusNoContent)
	})
}
