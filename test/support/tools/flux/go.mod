// Pins Flux's source-controller, whose suite with envtest is built from its own published sources (kind `module` of ../install).
module keelson.test/tools/flux

go 1.26.0

require github.com/fluxcd/source-controller v1.8.5

require github.com/fluxcd/source-controller/api v1.8.5
