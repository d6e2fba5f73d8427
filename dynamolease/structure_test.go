package dynamolease_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/dynamolease/dynamolease/"

// floors are the packages of the library from the ground up. A package imports only packages below it.
var floors = []string{
	"internal/aside", "internal/jitter", "internal/resync", "internal/elapsed", "internal/storeclock", "internal/request", "internal/rowstore",
	"dynamolease", "dynamolease/processlease", "dynamolease/coordinator/internal/plan", "dynamolease/coordinator",
	"dynamolease/coordinator/hint",
}

func TestPackagesImportDownwards(t *testing.T) {
	for i, floor := range floors {
		for imported := range strings.FieldsSeq(output(t, "list", "-f", `{{join .Imports " "}}`, module+floor)) {
			below, ours := strings.CutPrefix(imported, module)
			if ours && !slices.Contains(floors[:i], below) {
				t.Errorf("%s imports %s, which is not below it", floor, below)
			}
		}
	}
}

// Data flows down the files of a package and back by return values: no two files refer to each other,
// not even by way of others. So whoever follows a call reads each file once.
func TestFilesReferOneWay(t *testing.T) {
	for _, folder := range []string{"dynamolease", "dynamolease/processlease", "dynamolease/coordinator", "dynamolease/coordinator/hint", "internal/rowstore", "internal/request"} {
		t.Run(folder, func(t *testing.T) {
			refers := references(t, folder)
			if len(refers) == 0 {
				t.Fatal("no file refers to another")
			}
			for len(refers) > 0 { // take away files that refer to none of those that are left
				before := len(refers)
				for file, others := range refers {
					if !slices.ContainsFunc(others, func(other string) bool { return refers[other] != nil }) {
						delete(refers, file)
					}
				}
				if len(refers) == before {
					t.Fatalf("these files refer to each other, or to some that do: %v", refers)
				}
			}
		})
	}
}

// references returns to which other files of its package each file refers.
func references(t *testing.T, folder string) map[string][]string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	paths, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	uses := make(map[*ast.Ident]types.Object)
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", exports(t, folder))}
	pkg, err := config.Check(module+folder, fset, files, &types.Info{Uses: uses})
	if err != nil {
		t.Fatal(err)
	}
	refers := make(map[string][]string)
	for ident, object := range uses {
		if object.Pkg() != pkg {
			continue
		}
		from, to := fset.File(ident.Pos()).Name(), fset.File(object.Pos()).Name()
		if from != to && !slices.Contains(refers[from], to) {
			refers[from] = append(refers[from], to)
		}
	}
	return refers
}

// exports opens what the compiler has written of the packages that a folder imports.
func exports(t *testing.T, folder string) func(path string) (io.ReadCloser, error) {
	t.Helper()
	compiled := make(map[string]string)
	list := output(t, "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", module+folder)
	for line := range strings.Lines(list) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) }
}
