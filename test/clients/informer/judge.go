package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// report contains the counts for one resource. They are for information only: the run fails if
// there are faults.
type report struct {
	Objects   int `json:"objects"`
	Creates   int `json:"creates"`
	Updates   int `json:"updates"`
	Deletes   int `json:"deletes"`
	Failures  int `json:"failedWrites"`
	Lists     int `json:"lists"`
	Watches   int `json:"watches"`
	Events    int `json:"events"`
	Bookmarks int `json:"bookmarks"`
	// Added, Updated and Deleted count the events that the informer's listener received.
	Added   int `json:"added"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
	// SettledMs is the time until the informer had the same objects as a fresh list.
	SettledMs int64 `json:"settledMs"`
}

func judge(ctx context.Context, name string, kind kind, book *ledger, seen *observer, store cache.Store, faults *[]string) *report {
	fault := func(format string, args ...any) {
		if len(*faults) < faultsMax {
			*faults = append(*faults, name+": "+fmt.Sprintf(format, args...))
		}
	}
	fresh, err := freshList(ctx, kind)
	if err != nil {
		fault("no fresh list: %v", err)
		return nil
	}
	judgeLedger(book, kind, fresh, fault)
	began := time.Now()
	for len(differences(fresh, store)) > 0 && time.Since(began) < settleMax {
		time.Sleep(20 * time.Millisecond)
	}
	settled := time.Since(began)
	for _, difference := range differences(fresh, store) {
		fault("the informer: %s", difference)
	}
	waitForHandler(seen, len(fresh))
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, text := range seen.faults {
		fault("%s", text)
	}
	judgeMirror(fresh, seen, fault)
	judgeTold(book, seen, fault)
	if seen.added-seen.deleted != len(fresh) {
		fault("the listener received %d additions and %d deletions, but %d objects exist", seen.added, seen.deleted, len(fresh))
	}
	return &report{
		Objects: len(fresh), Creates: book.creates, Updates: book.updates, Deletes: len(book.removed), Failures: book.failures,
		Lists: seen.lists, Watches: seen.watches, Events: seen.events, Bookmarks: seen.bookmarks,
		Added: seen.added, Updated: seen.updated, Deleted: seen.deleted, SettledMs: settled.Milliseconds(),
	}
}

// freshList lists all objects, and retries until the server is available again.
func freshList(ctx context.Context, kind kind) (map[string]runtime.Object, error) {
	var list runtime.Object
	var err error
	for began := time.Now(); time.Since(began) < settleMax; time.Sleep(100 * time.Millisecond) {
		if list, err = kind.list(ctx, metav1.ListOptions{}); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	objects := map[string]runtime.Object{}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		key, _ := stateOf(item)
		objects[key] = item
		return nil
	})
	return objects, err
}

// judgeLedger checks that no acknowledged write is lost, and that every object was created by a
// write that this program has recorded.
func judgeLedger(book *ledger, kind kind, fresh map[string]runtime.Object, fault func(string, ...any)) {
	for _, text := range book.lost {
		fault("%s", text)
	}
	found := map[string]mirrored{}
	for _, object := range fresh {
		accessor, _ := meta.Accessor(object)
		_, state := stateOf(object)
		found[accessor.GetName()] = state
	}
	expected := 0
	for name, state := range book.objects {
		fullName := name
		if spaces, is := kind.(namespaces); is {
			fullName = spaces.fullName(name)
		}
		actual, isThere := found[fullName]
		if isThere {
			expected++
		}
		if state.unsure {
			continue
		}
		if isThere != state.exists || actual.resourceVersion != state.resourceVersion || actual.uid != state.uid {
			fault("%s was acknowledged as %+v, a fresh list has %+v", fullName, state, actual)
		}
	}
	if expected != len(found) {
		fault("%d objects exist that were not written", len(found)-expected)
	}
}

func differences(fresh map[string]runtime.Object, store cache.Store) []string {
	var found []string
	held := store.List()
	for _, object := range held {
		key, state := stateOf(object.(runtime.Object))
		if other, isThere := fresh[key]; !isThere {
			found = append(found, fmt.Sprintf("%s at %d is not in a fresh list", key, state.resourceVersion))
		} else if !equality.Semantic.DeepEqual(other, object) {
			_, otherState := stateOf(other)
			found = append(found, fmt.Sprintf("%s is at %d, but at %d in a fresh list", key, state.resourceVersion, otherState.resourceVersion))
		}
	}
	if len(held) != len(fresh) {
		found = append(found, fmt.Sprintf("%d objects, but %d in a fresh list", len(held), len(fresh)))
	}
	return found
}

// waitForHandler waits until the listeners have received all events. An informer notifies its
// listeners slightly later than it updates its store.
func waitForHandler(seen *observer, count int) {
	for range 100 {
		seen.mu.Lock()
		isThere := seen.added-seen.deleted == count
		seen.mu.Unlock()
		if isThere {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func judgeMirror(fresh map[string]runtime.Object, seen *observer, fault func(string, ...any)) {
	for key, state := range seen.objects {
		if object, isThere := fresh[key]; !isThere {
			fault("the events result in %s, but a fresh list does not have it", key)
		} else if _, actual := stateOf(object); actual != state {
			fault("the events result in %s as %+v, but a fresh list has %+v", key, state, actual)
		}
	}
	if len(seen.objects) != len(fresh) {
		fault("the events result in %d objects, but a fresh list has %d", len(seen.objects), len(fresh))
	}
}

// judgeTold checks that there was an event for every acknowledged write. It ignores writes that
// happened between the end of a watch and the list that replaced it.
func judgeTold(book *ledger, seen *observer, fault func(string, ...any)) {
	isRelisted := func(version uint64) bool {
		for _, span := range seen.relisted {
			if span.has(version) {
				return true
			}
		}
		return false
	}
	for version := range book.written {
		if _, isTold := seen.told[version]; !isTold && !isRelisted(version) {
			fault("no event reported the write at %d", version)
		}
	}
	for uid := range book.removed {
		if _, isTold := seen.gone[uid]; !isTold && !isRelisted(book.created[uid]) {
			fault("no event reported the deletion of uid %s", uid)
		}
	}
}
