// Command promises lists the tests of each promise of the library, by number, and fails where a promise has none.
//
// The promises are the rows of the tables in docs/promises.md. A test is for a promise when the promise's number is in its
// name: the name of the test function, of a subtest (the first argument of Run and of helpers like it), or of an entry in
// a table of tests. Comments count for nothing. A number in a test's name that is no promise is an error, too.
//
//	go run ./promises          numbers and their tests
//	go run ./promises -short   numbers and how many tests each has
package main
