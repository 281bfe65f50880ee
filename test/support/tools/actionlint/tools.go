//go:build tools

// Package tools pins actionlint, which checks the workflows in .github/workflows.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
