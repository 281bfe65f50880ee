//go:build tools

// Package tools pins kubectl and the Helm that the tests run. They share a module, so that common
// dependencies are compiled once.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
