package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// A test is a name of a test, and the place where it was found.
type test struct {
	name string // "TestAcquire/LS7 many"; "a table/LS7 many" outside of a function
	file string // relative to the root of the tree
	line int
}

func (t test) String() string { return fmt.Sprintf("%s (%s:%d)", t.name, t.file, t.line) }

// readNames reads the names of all tests in the tree.
func readNames(root string) ([]test, error) {
	var tests []test
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() && path != root && (skipped(entry.Name()) || relative == own) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		found, err := namesIn(path, relative)
		tests = append(tests, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the names of tests: %w", err)
	}
	return tests, nil
}

// own is the folder of this command. Its tests contain numbers as examples, and test no promise.
const own = "e2e/promises"

// skipped reports whether to pass over a folder: the go command ignores it, or it belongs to npm.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules"
}

// namesIn returns the names in one file.
func namesIn(path, shown string) ([]test, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var tests []test
	add := func(name string, at token.Pos) {
		tests = append(tests, test{name, shown, files.Position(at).Line})
	}
	for _, declared := range parsed.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if ok && function.Recv == nil && isTest(function.Name.Name) {
			add(function.Name.Name, function.Pos())
		}
		within := "a table"
		if ok {
			within = function.Name.Name
		}
		ast.Inspect(declared, func(n ast.Node) bool {
			for _, literal := range namesOf(n) {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					add(within+"/"+text, literal.Pos())
				}
			}
			return true
		})
	}
	return tests, nil
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Example")
}

// namesOf returns the string literals with which a node names a subtest, or an entry of a table.
func namesOf(n ast.Node) []*ast.BasicLit {
	switch n := n.(type) {
	case *ast.CallExpr:
		return namesOfCall(n)
	case *ast.CompositeLit:
		return namesOfTable(n)
	}
	return nil
}

// namesOfCall returns the literals in the name of a subtest. The name is the first argument of Run,
// or of another of the runners; it is the second if the first is the test.
func namesOfCall(call *ast.CallExpr) []*ast.BasicLit {
	var name string
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !runners[name] {
		return nil
	}
	var found []*ast.BasicLit
	for _, argument := range call.Args[:min(2, len(call.Args))] {
		found = append(found, literals(argument)...)
	}
	return found
}

// runners names the functions that run a part of a test under a name.
var runners = map[string]bool{"Run": true, "subtest": true, "change": true, "step": true}

// literals returns the string literals of an expression that makes a name: a literal alone,
// literals joined by +, or arguments of fmt.Sprint and its like.
func literals(e ast.Expr) []*ast.BasicLit {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return []*ast.BasicLit{e}
		}
	case *ast.BinaryExpr:
		return append(literals(e.X), literals(e.Y)...)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Sel.Name, "Sprint") {
			var found []*ast.BasicLit
			for _, argument := range e.Args {
				found = append(found, literals(argument)...)
			}
			return found
		}
	}
	return nil
}

// namesOfTable returns the names of a table's entries. In a map they are the string keys; in a
// struct, the first element or the field "name".
func namesOfTable(table *ast.CompositeLit) []*ast.BasicLit {
	var found []*ast.BasicLit
	for i, element := range table.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		switch {
		case ok && isField(pair.Key, "name"):
			found = append(found, literals(pair.Value)...)
		case ok:
			found = append(found, literals(pair.Key)...)
		case i == 0 && !isSlice(table):
			found = append(found, literals(element)...)
		}
	}
	return found
}

func isField(key ast.Expr, name string) bool {
	field, ok := key.(*ast.Ident)
	return ok && field.Name == name
}

// isSlice reports whether a literal is a list. The first element of a list is no name.
func isSlice(table *ast.CompositeLit) bool {
	_, ok := table.Type.(*ast.ArrayType)
	return ok
}
