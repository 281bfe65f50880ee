//go:build tools

// Package tools pins the versions of kubectl and Helm that the tests run. Both are in the same
// module, so that their common dependencies are compiled only once.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
