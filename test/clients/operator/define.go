package main

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define creates the CustomResourceDefinition and waits until it is established.
func define(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := client.Resource(definitions).Create(ctx, definition(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		found, err := client.Resource(definitions).Get(ctx, resource.Resource+"."+kind.Group, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		// The conditions of a new definition are null, which NestedSlice reports as an error.
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, condition := range conditions {
			fields, _ := condition.(map[string]any)
			if fields["type"] == "Established" && fields["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
}

func definition() *unstructured.Unstructured {
	integer := map[string]any{"type": "integer"}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	root := object(map[string]any{
		"spec":   object(map[string]any{"watts": integer}),
		"status": object(map[string]any{"seenWatts": integer, "observedGeneration": integer}),
	})
	version := map[string]any{
		"name": kind.Version, "served": true, "storage": true,
		"schema":       map[string]any{"openAPIV3Schema": root},
		"subresources": map[string]any{"status": map[string]any{}},
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": resource.Resource + "." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": "Namespaced",
			"names":    map[string]any{"plural": resource.Resource, "kind": kind.Kind},
			"versions": []any{version},
		},
	}}
}
