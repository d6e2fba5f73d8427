package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Each promise has a test with its number in the name, and each number in a test's name belongs to
// a promise.
func TestNoGap(t *testing.T) {
	var out bytes.Buffer
	if err := start(t.Context(), []string{"-short"}, &out); err != nil {
		t.Error(err)
	}
	t.Logf("%s", &out)
}

// The names in the tests of this command do not count as tests of a promise.
func TestOwnFixturesDoNotCount(t *testing.T) {
	tree, err := root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := cover(tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.promises) == 0 {
		t.Error("no promises")
	}
	for number, tests := range c.tests {
		for _, found := range tests {
			if strings.Contains(found.file, "promises_test.go") {
				t.Errorf("%s is tested by %v", number, found)
			}
		}
	}
}

const source = "package x\n\n" + `import "testing"

// LS90 is in a comment, and so is TestLS91.
func TestSomethingLS1(t *testing.T) {
	t.Run("LS2 and LS3", func(t *testing.T) { t.Log("LS92") })
	t.Run("PL4/"+t.Name(), nil)
	t.Run(fmt.Sprintf("CO5/%d", 7), nil) // LS93
	subtest(t, "C06", nil)
	for name, f := range map[string]func(){"C07": nil, "C08/x": nil} {
		t.Run(name, f)
	}
	for _, c := range []struct{ name string; n int }{{name: "LS9", n: 1}, {"LS10", 2}} {
		t.Run(c.name, nil)
	}
	_ = []string{"LS94", "LS95"}
	t.Error("LS96", CRC32, "LS97")
	const text = "LS98"
}

func helperLS99() {}
`

func TestNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "some", "x_test.go"), source)
	write(t, filepath.Join(dir, "some", "x.go"), "package x\n\nfunc TestLS80() {}\n")
	write(t, filepath.Join(dir, "testdata", "y_test.go"), "no Go at all")
	write(t, filepath.Join(dir, "e2e", "promises", "z_test.go"), "package main\n\nfunc TestLS81() {}\n")
	write(t, filepath.Join(dir, "e2e", "other", "z_test.go"), "package main\n\nfunc TestLS4() {}\n")
	write(t, filepath.Join(dir, "promises", "z_test.go"), "package main\n\nfunc TestLS5() {}\n")
	tests, err := readNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for _, found := range tests {
		numbers = append(numbers, numbersIn(strings.TrimPrefix(found.name, "TestSomethingLS1/"))...)
	}
	slices.Sort(numbers)
	want := []string{"C06", "C07", "C08", "CO5", "LS1", "LS10", "LS2", "LS3", "LS4", "LS5", "LS9", "PL4"}
	if !slices.Equal(numbers, want) {
		t.Errorf("numbers are %v, want %v", numbers, want)
	}
}

func TestNumbers(t *testing.T) {
	for name, want := range map[string]string{
		"TestCasesC56":              "C56",
		"TestPlanCO1InTheMiddle":    "CO1",
		"TestHours/LS26/LS41/a/b":   "LS26 LS41",
		"TestCRC32":                 "",
		"TestC123":                  "",
		"TestX/PL5 twice PL5":       "PL5",
		"TestX/EC20, HTTPC40, C5":   "",
		"TestX/C25, and LS1 of CO2": "C25 LS1 CO2",
	} {
		if got := strings.Join(numbersIn(name), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	promises := []promise{{"LS1", "one"}, {"LS2", "two"}}
	fits := match(promises, []test{{"TestLS1", "a_test.go", 1}, {"TestX/LS2", "a_test.go", 2}})
	if err := fits.problem(); err != nil {
		t.Errorf("every promise has a test, but the error is: %v", err)
	}
	gap := match(promises, []test{{"TestLS1", "a_test.go", 1}})
	if err := gap.problem(); err == nil || !strings.Contains(err.Error(), "no test for LS2: two") {
		t.Errorf("LS2 has no test, but the error is: %v", err)
	}
	unknown := match(promises, []test{{"TestLS1LS2", "a_test.go", 1}, {"TestLS3", "b_test.go", 7}})
	if err := unknown.problem(); err == nil || !strings.Contains(err.Error(), "no promise LS3 in TestLS3 (b_test.go:7)") {
		t.Errorf("LS3 is no promise, but the error is: %v", err)
	}
}

func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "promises.md")
	for name, test := range map[string]struct{ text, want string }{
		"twice": {"| LS1 | a |\n| LS1 | b |\n", "LS1 appears twice"},
		"none":  {"| number | promise |\n", "no row"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, test.text)
			if _, err := readPromises(file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
	write(t, file, "# x\n\n| number | promise |\n| --- | --- |\n| LS1 | One. |\n| C03 | Two. |\n")
	promises, err := readPromises(file)
	if err != nil || !slices.Equal(promises, []promise{{"LS1", "One."}, {"C03", "Two."}}) {
		t.Errorf("promises are %v, %v", promises, err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
