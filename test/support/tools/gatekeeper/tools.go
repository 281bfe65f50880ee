//go:build tools

// Package tools pins Gatekeeper, a policy product that uses admission webhooks.
package tools

import _ "github.com/open-policy-agent/gatekeeper/v3"
