//go:build tools

// Package tools pins Prometheus, which scrapes a server, and promtool, which checks our rules.
package tools

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
