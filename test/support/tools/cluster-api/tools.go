//go:build tools

// Package tools pins the version of Cluster API. The tests run its core manager, whose CRDs use
// webhooks for defaulting, validation and conversion.
package tools

import _ "sigs.k8s.io/cluster-api"
