// The entry point of a program with the tests of all packages (see ../program.ts). UPSTREAM_PACKAGE
// names the package whose tests run, as if the program contained only this package.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"
)

type suite struct {
	main  func(*testing.M)
	tests []testing.InternalTest
}

func main() {
	name := os.Getenv("UPSTREAM_PACKAGE")
	chosen, ok := suites[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "UPSTREAM_PACKAGE=%q: this program has no such package\n", name)
		os.Exit(2)
	}
	m := testing.MainStart(dependencies{}, chosen.tests, nil, nil, nil)
	if chosen.main == nil {
		os.Exit(m.Run())
	}
	// TestMain functions of Kubernetes exit the process themselves, so the code after this call
	// usually does not run.
	chosen.main(m)
	os.Exit(2)
}

// dependencies implements the functions that the package testing gets from `go test`. Fuzzing,
// profiles and coverage are not supported.
type dependencies struct{}

type corpusEntry = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}

var errUnwanted = errors.New("not in this program")

func (dependencies) ImportPath() string { return "k8s.io/kubernetes/test/integration" }
func (dependencies) ModulePath() string { return "k8s.io/kubernetes" }
func (dependencies) MatchString(pattern, text string) (bool, error) {
	return regexp.MatchString(pattern, text)
}
func (dependencies) SetPanicOnExit0(bool)                        {}
func (dependencies) StartCPUProfile(io.Writer) error             { return errUnwanted }
func (dependencies) StopCPUProfile()                             {}
func (dependencies) StartTestLog(io.Writer)                      {}
func (dependencies) StopTestLog() error                          { return nil }
func (dependencies) WriteProfileTo(string, io.Writer, int) error { return errUnwanted }
func (dependencies) CoordinateFuzzing(time.Duration, int64, time.Duration, int64, int, []corpusEntry, []reflect.Type, string, string) error {
	return errUnwanted
}
func (dependencies) RunFuzzWorker(func(corpusEntry) error) error { return errUnwanted }
func (dependencies) ReadCorpus(string, []reflect.Type) ([]corpusEntry, error) {
	return nil, errUnwanted
}
func (dependencies) CheckCorpus([]any, []reflect.Type) error { return errUnwanted }
func (dependencies) ResetCoverage()                          {}
func (dependencies) SnapshotCoverage()                       {}
func (dependencies) InitRuntimeCoverage() (string, func(string, string) (string, error), func() float64) {
	return "", nil, nil
}
