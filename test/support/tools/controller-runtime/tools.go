//go:build tools

// Package tools pins controller-runtime, whose own test suites `npm run envtest` runs, and their
// dependencies.
package tools

import (
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "go.uber.org/goleak"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
