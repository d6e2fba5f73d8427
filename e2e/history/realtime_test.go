package history

import (
	"os"
	"testing"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// One history in real time keeps the promises of the library. Virtual time and a stand-in cannot
// show whether DynamoDB itself behaves as the library expects. The test takes about two minutes. It
// runs against DynamoDB (DYNAMOLEASE_TEST_AWS=1), or with PROOF_REAL_TIME=1.
func TestHistoryInRealTime(t *testing.T) {
	server := testkit.Server(t)
	if server.Endpoint() != "" && os.Getenv("PROOF_REAL_TIME") != "1" {
		t.Skip("this test runs against DynamoDB itself, or with PROOF_REAL_TIME=1")
	}
	s, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	transport := server.Transport()
	defer transport.Close()
	on := stage{table: server.Table(t), wire: wire{over: transport, sdk: transport.Client}, real: true}
	w, err := play(t.Context(), on, s.seed, s.size)
	if err != nil {
		t.Fatal(err)
	}
	v := report(t, w)
	t.Logf("%d operations, %d of them met a fault, %d operations checked", v.operations, v.faulted, v.checked)
}
