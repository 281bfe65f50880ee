//go:build tools

// Package tools pins the version of controller-runtime and the dependencies of its tests. `npm run
// envtest` runs these tests.
package tools

import (
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "go.uber.org/goleak"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
)
