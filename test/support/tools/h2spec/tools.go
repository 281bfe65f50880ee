//go:build tools

// Package tools pins h2spec, which asks a server about every rule of HTTP/2.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
