package main

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// faultsMax limits the number of faults in a verdict, so that it stays readable if many checks
// fail.
const faultsMax = 20

// span is the range of resourceVersions after `after`, up to and including `upTo`.
type span struct{ after, upTo uint64 }

func (s span) has(version uint64) bool { return version > s.after && version <= s.upTo }

// observer processes the lists and watches as the server sent them, and maintains the resulting
// state. It is stricter than an informer: an event that contradicts the state is a fault, even if
// an informer would ignore it.
type observer struct {
	mu sync.Mutex
	// objects is the state that results from all lists and events so far, by key.
	objects map[string]mirrored
	// The set of all resourceVersions that appeared in an event or a list.
	told map[uint64]struct{}
	gone map[types.UID]struct{}
	// relisted are the ranges of resourceVersions that no watch covered. An informer learns about the
	// changes in these ranges only from a list.
	relisted []span
	latest   uint64
	faults   []string
	handled  map[string]uint64

	lists, watches, events, bookmarks, failures int
	added, updated, deleted                     int
}

type mirrored struct {
	uid             types.UID
	resourceVersion uint64
}

func newObserver() *observer {
	return &observer{
		objects: map[string]mirrored{},
		told:    map[uint64]struct{}{},
		gone:    map[types.UID]struct{}{},
		handled: map[string]uint64{},
	}
}

func (o *observer) fault(format string, args ...any) {
	if len(o.faults) < faultsMax {
		o.faults = append(o.faults, fmt.Sprintf(format, args...))
	}
}

func (o *observer) failed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures++
}

func (o *observer) listed(list runtime.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lists++
	fresh := map[string]mirrored{}
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		key, state := stateOf(item)
		if _, isThere := fresh[key]; isThere {
			o.fault("a list has %s twice", key)
		}
		fresh[key] = state
		return nil
	})
	accessor, _ := meta.ListAccessor(list)
	o.replace(fresh, parseVersion(accessor.GetResourceVersion()))
}

// replace replaces the whole state by the result of a list at a resourceVersion.
func (o *observer) replace(fresh map[string]mirrored, version uint64) {
	if version < o.latest {
		o.fault("a list at %d came after %d was seen", version, o.latest)
	}
	for key, state := range fresh {
		if state.resourceVersion > version {
			o.fault("a list at %d has %s at %d", version, key, state.resourceVersion)
		}
		o.told[state.resourceVersion] = struct{}{}
	}
	for key, state := range o.objects {
		if fresh[key].uid != state.uid {
			o.gone[state.uid] = struct{}{}
		}
	}
	o.relisted = append(o.relisted, span{o.latest, version})
	o.objects = fresh
	o.latest = version
}

// watching starts to observe a watch, and returns the function that observes its events.
func (o *observer) watching(options metav1.ListOptions) func(watch.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watches++
	// The initial events of a streaming list contain the whole state. Their resourceVersions are not
	// in order.
	var initial map[string]mirrored
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		initial = map[string]mirrored{}
	} else if start := parseVersion(options.ResourceVersion); start != o.latest {
		o.fault("a watch begins at %d, but the latest observed version is %d", start, o.latest)
	}
	return func(event watch.Event) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if event.Type == watch.Error {
			o.failures++
			return
		}
		key, state := stateOf(event.Object)
		switch {
		case event.Type == watch.Bookmark:
			o.bookmarks++
			accessor, _ := meta.Accessor(event.Object)
			if initial != nil && accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				o.lists++
				o.replace(initial, state.resourceVersion)
				initial = nil
			} else if initial == nil {
				o.advance("a bookmark", state.resourceVersion-1, state.resourceVersion)
			}
		case initial != nil:
			if event.Type != watch.Added {
				o.fault("an initial event is %s", event.Type)
			}
			initial[key] = state
		default:
			o.apply(event.Type, key, state)
		}
	}
}

// advance sets the latest version to `version`. It records a fault if the latest version was
// greater than `atLeast`.
func (o *observer) advance(what string, atLeast, version uint64) {
	if o.latest > atLeast {
		o.fault("%s at %d came after %d", what, version, o.latest)
	}
	o.latest = version
}

func (o *observer) apply(kind watch.EventType, key string, state mirrored) {
	o.events++
	o.advance(fmt.Sprintf("%s of %s", kind, key), state.resourceVersion-1, state.resourceVersion)
	before, isThere := o.objects[key]
	switch kind {
	case watch.Added:
		if isThere {
			o.fault("ADDED of %s, which already exists at %d", key, before.resourceVersion)
		}
		o.objects[key] = state
	case watch.Modified:
		if !isThere || before.uid != state.uid {
			o.fault("MODIFIED of %s at %d, which does not exist", key, state.resourceVersion)
		}
		o.objects[key] = state
	case watch.Deleted:
		if !isThere || before.uid != state.uid {
			o.fault("DELETED of %s at %d, which does not exist", key, state.resourceVersion)
		}
		delete(o.objects, key)
		o.gone[state.uid] = struct{}{}
	default:
		o.fault("unexpected event type %s", kind)
	}
	o.told[state.resourceVersion] = struct{}{}
}

// handler counts the events that the informer sends to its listeners, and checks that the
// resourceVersion of an object never decreases.
func (o *observer) handler() cache.ResourceEventHandler {
	onChange := func(object any, count *int) {
		key, state := stateOf(object.(runtime.Object))
		o.mu.Lock()
		defer o.mu.Unlock()
		*count++
		if state.resourceVersion < o.handled[key] {
			o.fault("a listener received %s at %d after %d", key, state.resourceVersion, o.handled[key])
		}
		o.handled[key] = state.resourceVersion
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { onChange(object, &o.added) },
		UpdateFunc: func(_, object any) { onChange(object, &o.updated) },
		DeleteFunc: func(object any) {
			if last, isUnknown := object.(cache.DeletedFinalStateUnknown); isUnknown {
				object = last.Obj
			}
			onChange(object, &o.deleted)
		},
	}
}

func stateOf(object runtime.Object) (string, mirrored) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", mirrored{}
	}
	name := accessor.GetNamespace() + "/" + accessor.GetName()
	return name, mirrored{accessor.GetUID(), parseVersion(accessor.GetResourceVersion())}
}
