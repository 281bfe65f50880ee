package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const pollEvery = 20 * time.Millisecond

// live takes objects through their life cycles in parallel and returns the failures.
func live(ctx context.Context, config *rest.Config, objects int) []string {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return []string{err.Error()}
	}
	lamps := client.Resource(resource).Namespace("default")
	faults, mutex, all := []string{}, sync.Mutex{}, sync.WaitGroup{}
	for at := range objects {
		all.Add(1)
		go func() {
			defer all.Done()
			name := fmt.Sprintf("lamp-%d", at)
			if err := liveOnce(ctx, lamps, name); err != nil {
				mutex.Lock()
				defer mutex.Unlock()
				faults = append(faults, name+": "+err.Error())
			}
		}()
	}
	all.Wait()
	return faults
}

// liveOnce creates a lamp, changes it and deletes it. It waits for the operator after each step.
func liveOnce(ctx context.Context, lamps dynamic.ResourceInterface, name string) error {
	if _, err := lamps.Create(ctx, newLamp(name), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := waitForWatts(ctx, lamps, name, 5); err != nil {
		return fmt.Errorf("after create: %w", err)
	}
	patch := []byte(`{"spec":{"watts":7}}`)
	if _, err := lamps.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := waitForWatts(ctx, lamps, name, 7); err != nil {
		return fmt.Errorf("after update: %w", err)
	}
	if err := lamps.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		_, err := lamps.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

func waitForWatts(ctx context.Context, lamps dynamic.ResourceInterface, name string, wanted int64) error {
	return wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		lamp, err := lamps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		watts, _, err := unstructured.NestedInt64(lamp.Object, "status", "seenWatts")
		return watts == wanted && len(lamp.GetFinalizers()) == 1, err
	})
}

// sight counts the events that the informer has received.
type sight struct {
	mutex  sync.Mutex
	events map[string]int
}

func startInformer(ctx context.Context, config *rest.Config) (*sight, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	s := &sight{events: map[string]int{}}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(resource).Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { s.note("added") },
		UpdateFunc: func(any, any) { s.note("updated") },
		DeleteFunc: func(any) { s.note("deleted") },
	}); err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, ctx.Err()
	}
	return s, nil
}

func (s *sight) note(what string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.events[what]++
}

// waitForDeleted waits until the informer has received the last events.
func (s *sight) waitForDeleted(ctx context.Context, objects int) {
	_ = wait.PollUntilContextTimeout(ctx, pollEvery, 5*time.Second, true, func(context.Context) (bool, error) {
		return s.counts()["deleted"] == objects, nil
	})
}

func (s *sight) counts() map[string]int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	counts := map[string]int{}
	for what, count := range s.events {
		counts[what] = count
	}
	return counts
}
