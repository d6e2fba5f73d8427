// Command promises lists the tests of each promise of the library, by number. It fails if a promise
// has no test.
//
// The promises are the rows of the tables in docs/promises.md. A test covers a promise if its name
// contains the number of the promise. The command reads the names of test functions, of subtests
// (the first argument of Run and of helpers like it), and of entries in a table of tests. It
// ignores comments. A number in a test's name that belongs to no promise is an error, too.
//
//	go run ./promises          list the tests of each number
//	go run ./promises -short   print only how many tests each number has
package main
