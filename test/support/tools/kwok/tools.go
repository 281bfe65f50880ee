//go:build tools

// Package tools pins kwok, whose fake kubelets simulate nodes.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
