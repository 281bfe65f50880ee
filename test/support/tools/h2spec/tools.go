//go:build tools

// Package tools pins h2spec, which tests a server against every rule of HTTP/2.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
