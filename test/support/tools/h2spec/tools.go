//go:build tools

// Package tools pins the version of h2spec, which tests whether a server follows the rules of
// HTTP/2.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
