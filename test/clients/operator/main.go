// Command operator is a typical small operator: controller-runtime watches a custom resource, adds
// a finalizer, writes the status, and cleans up when an object is deleted. A dynamic informer of
// client-go watches the same objects. The command creates, updates and deletes objects itself. It
// prints, as one line of JSON, what the operator and the informer observed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
)

// runMax is the time limit for the life cycles of all objects.
const runMax = 60 * time.Second

var kind = schema.GroupVersionKind{Group: "operator.example.com", Version: "v1", Kind: "Lamp"}
var resource = schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "lamps"}

type verdict struct {
	Objects    int            `json:"objects"`
	Reconciled int            `json:"reconciled"`
	Finalized  int            `json:"finalized"`
	Seen       map[string]int `json:"seen"`
	Faults     []string       `json:"faults"`
}

func main() {
	// Use a separate flag set, because controller-runtime registers global flags with the same names.
	flags := flag.NewFlagSet("operator", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "path of the kubeconfig")
	objects := flags.Int("objects", 20, "number of objects")
	_ = flags.Parse(os.Args[1:])
	if err := run(*kubeconfig, *objects); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

func run(kubeconfig string, objects int) error {
	ctx, cancel := context.WithTimeout(context.Background(), runMax)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 500
	if err := define(ctx, config); err != nil {
		return fmt.Errorf("define lamps: %w", err)
	}
	operator, err := startOperator(ctx, config)
	if err != nil {
		return fmt.Errorf("start the operator: %w", err)
	}
	seen, err := startInformer(ctx, config)
	if err != nil {
		return fmt.Errorf("start the informer: %w", err)
	}
	faults := live(ctx, config, objects)
	seen.waitForDeleted(ctx, objects)
	operator.waitForFinalized(ctx, objects)
	result := verdict{Objects: objects, Faults: faults, Seen: seen.counts()}
	result.Reconciled, result.Finalized = operator.counts()
	return json.NewEncoder(os.Stdout).Encode(result)
}

func newLamp(name string) *unstructured.Unstructured {
	lamp := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"watts": int64(5)}}}
	lamp.SetGroupVersionKind(kind)
	lamp.SetNamespace("default")
	lamp.SetName(name)
	return lamp
}
