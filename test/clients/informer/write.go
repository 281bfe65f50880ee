package main

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// failurePause slows down the writers while the server is down and all writes fail.
const failurePause = 50 * time.Millisecond

// fillers is the number of goroutines that create the initial objects.
const fillers = 16

// known is the state of an object after its last acknowledged write.
type known struct {
	exists          bool
	uid             types.UID
	resourceVersion uint64
	// unsure is set if a later write failed without a clear response, so that the object can have
	// the state before or after this write.
	unsure bool
}

// ledger holds the acknowledged writes.
type ledger struct {
	mu      sync.Mutex
	objects map[string]known
	// written maps the resourceVersion of every acknowledged create and update to the uid of its
	// object.
	written map[uint64]types.UID
	removed map[types.UID]struct{}
	// created is the first acknowledged resourceVersion of each uid.
	created  map[types.UID]uint64
	creates  int
	updates  int
	failures int
	// lost describes acknowledged writes that the response to a later write proves to be lost.
	lost []string
}

func newLedger() *ledger {
	return &ledger{
		objects: map[string]known{},
		written: map[uint64]types.UID{},
		removed: map[types.UID]struct{}{},
		created: map[types.UID]uint64{},
	}
}

func fill(ctx context.Context, kind kind, book *ledger, count int) error {
	names := make(chan string)
	failed := make(chan error, fillers)
	var all sync.WaitGroup
	for range fillers {
		all.Add(1)
		go func() {
			defer all.Done()
			for name := range names {
				if err := create(ctx, kind, book, name, 0); err != nil {
					failed <- err
					for range names {
						// Drain the names, because the sender must not block on a writer that has returned.
					}
				}
			}
		}()
	}
	for i := range count {
		names <- "object-" + strconv.Itoa(i)
	}
	close(names)
	all.Wait()
	select {
	case err := <-failed:
		return fmt.Errorf("fill: %w", err)
	default:
		return nil
	}
}

// write runs until ctx is canceled. Each writer has its own objects, so that it knows the expected
// state of each object.
func write(ctx context.Context, kind kind, book *ledger, o options) {
	names := make([][]string, o.writers)
	i := 0
	for name := range book.objects {
		names[i%o.writers] = append(names[i%o.writers], name)
		i++
	}
	var all sync.WaitGroup
	for seed, own := range names {
		all.Add(1)
		go func() {
			defer all.Done()
			random := rand.New(rand.NewSource(int64(seed)))
			for revision := 1; ctx.Err() == nil; revision++ {
				writeOnce(kind, book, own[random.Intn(len(own))], revision, random.Intn(10) < 3)
				time.Sleep(o.pause)
			}
		}()
	}
	all.Wait()
}

// writeOnce creates a missing object, and otherwise deletes or updates it. It uses its own context,
// because a write that has started must complete.
func writeOnce(kind kind, book *ledger, name string, revision int, isRemoval bool) {
	ctx, cancel := context.WithTimeout(context.Background(), requestMax)
	defer cancel()
	state := book.get(name)
	var err error
	switch {
	case state.unsure:
		err = create(ctx, kind, book, name, revision)
		if errors.IsAlreadyExists(err) {
			err = update(ctx, kind, book, name, revision)
		}
	case !state.exists:
		err = create(ctx, kind, book, name, revision)
	case isRemoval:
		err = kind.remove(ctx, name)
		if err == nil {
			book.removes(name)
		}
	default:
		err = update(ctx, kind, book, name, revision)
	}
	if err != nil {
		book.fails(name, err)
		time.Sleep(failurePause)
	}
}

func create(ctx context.Context, kind kind, book *ledger, name string, revision int) error {
	made, err := kind.create(ctx, name, revision)
	if err != nil {
		return err
	}
	book.writes(name, made.GetUID(), made.GetResourceVersion(), true)
	return nil
}

func update(ctx context.Context, kind kind, book *ledger, name string, revision int) error {
	made, err := kind.update(ctx, name, revision)
	if err != nil {
		return err
	}
	book.writes(name, made.GetUID(), made.GetResourceVersion(), false)
	return nil
}

func (l *ledger) get(name string) known {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.objects[name]
}

func (l *ledger) writes(name string, uid types.UID, version string, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := parseVersion(version)
	l.objects[name] = known{exists: true, uid: uid, resourceVersion: number}
	l.written[number] = uid
	// If the create got no response, the response to a later update is the first response for this
	// object.
	if _, isKnown := l.created[uid]; !isKnown {
		l.created[uid] = number
	}
	if isNew {
		l.creates++
	} else {
		l.updates++
	}
}

func (l *ledger) removes(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removed[l.objects[name].uid] = struct{}{}
	l.objects[name] = known{}
}

func (l *ledger) fails(name string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.objects[name]
	if !state.unsure && (errors.IsNotFound(err) || errors.IsAlreadyExists(err)) {
		l.lost = append(l.lost, fmt.Sprintf("%s was acknowledged as %+v, but then: %v", name, state, err))
	}
	state.unsure = true
	l.objects[name] = state
	l.failures++
}

// parseVersion returns 0 if the string is not a number. No write has version 0, so the judge
// reports it as a fault.
func parseVersion(version string) uint64 {
	number, _ := strconv.ParseUint(version, 10, 64)
	return number
}
