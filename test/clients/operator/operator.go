package main

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "operator.example.com/lamp"

type operator struct {
	client     client.Client
	mutex      sync.Mutex
	reconciled map[string]bool
	finalized  map[string]bool
}

func startOperator(ctx context.Context, config *rest.Config) (*operator, error) {
	log.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return nil, err
	}
	o := &operator{client: manager.GetClient(), reconciled: map[string]bool{}, finalized: map[string]bool{}}
	lamp := &unstructured.Unstructured{}
	lamp.SetGroupVersionKind(kind)
	if err := ctrl.NewControllerManagedBy(manager).For(lamp).Complete(o); err != nil {
		return nil, err
	}
	go func() { _ = manager.Start(ctx) }()
	if !manager.GetCache().WaitForCacheSync(ctx) {
		return nil, ctx.Err()
	}
	return o, nil
}

// Reconcile adds a finalizer, reports the observed spec in the status, and removes the finalizer
// from an object that is being deleted.
func (o *operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	lamp := &unstructured.Unstructured{}
	lamp.SetGroupVersionKind(kind)
	if err := o.client.Get(ctx, request.NamespacedName, lamp); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !lamp.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(lamp, finalizer) {
			if err := o.client.Update(ctx, lamp); err != nil {
				return retry(err)
			}
			o.note(o.finalized, request.Name)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(lamp, finalizer) {
		if err := o.client.Update(ctx, lamp); err != nil {
			return retry(err)
		}
	}
	watts, _, _ := unstructured.NestedInt64(lamp.Object, "spec", "watts")
	status := map[string]any{"seenWatts": watts, "observedGeneration": lamp.GetGeneration()}
	if err := unstructured.SetNestedMap(lamp.Object, status, "status"); err != nil {
		return ctrl.Result{}, err
	}
	if err := o.client.Status().Update(ctx, lamp); err != nil {
		return retry(err)
	}
	o.note(o.reconciled, request.Name)
	return ctrl.Result{}, nil
}

// retry requeues the object after a conflict, because a conflict only means that the cache was
// stale.
func retry(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ctrl.Result{Requeue: true}, nil
	}
	return ctrl.Result{}, err
}

func (o *operator) note(names map[string]bool, name string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	names[name] = true
}

// waitForFinalized waits until the operator has recorded all finalized objects. An informer can
// observe a deletion before the operator has received the response to its last update.
func (o *operator) waitForFinalized(ctx context.Context, objects int) {
	_ = wait.PollUntilContextCancel(ctx, pollEvery, true, func(context.Context) (bool, error) {
		_, finalized := o.counts()
		return finalized == objects, nil
	})
}

func (o *operator) counts() (int, int) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return len(o.reconciled), len(o.finalized)
}
