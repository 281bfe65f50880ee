//go:build tools

// Package tools pins kubectl and the Helm that the tests run: together, so that what both are made of is compiled once.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
