// An OpenTelemetry collector with a receiver for OTLP over gRPC, as in real collectors, and an
// exporter that prints the received spans as OTLP JSON, one line per export.
//
//	collector ADDRESS
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	print, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
		if err == nil {
			fmt.Println(string(line))
		}
		return err
	})
	if err != nil {
		return err
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	grpc := configgrpc.NewDefaultServerConfig()
	grpc.NetAddr = confignet.AddrConfig{Endpoint: address, Transport: confignet.TransportTypeTCP}
	config.Protocols = otlpreceiver.Protocols{GRPC: configoptional.Some(grpc)}
	receiver, err := factory.CreateTraces(ctx, receivertest.NewNopSettings(component.MustNewType("otlp")), config, print)
	if err != nil {
		return err
	}
	host := componenttest.NewNopHost()
	if err := receiver.Start(ctx, host); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "receiving")
	<-ctx.Done()
	return receiver.Shutdown(context.Background())
}
