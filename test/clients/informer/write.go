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

// failurePause keeps the writers from doing nothing but failing while the server is away.
const failurePause = 50 * time.Millisecond

// fillers is how many create the first objects at once.
const fillers = 16

// known is what the last acknowledged write left of an object.
type known struct {
	exists          bool
	uid             types.UID
	resourceVersion uint64
	// unsure: a later write failed without a clear answer, so either state is right.
	unsure bool
}

// ledger is what the server has acknowledged.
type ledger struct {
	mu      sync.Mutex
	objects map[string]known
	// written has the resourceVersion of every acknowledged create and update, with the uid of its object.
	written map[uint64]types.UID
	removed map[types.UID]struct{}
	// created is the first acknowledged resourceVersion of each uid.
	created  map[types.UID]uint64
	creates  int
	updates  int
	failures int
	// lost has what an answer to a later write contradicted.
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
						// The sender must not wait for a writer that has ended.
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

// write goes on until it is told to stop. Each writer has its own objects, so that it knows what each must be.
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

// writeOnce creates what is not there, and otherwise deletes or updates. Its context is its own: a write that has begun is
// awaited.
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
	// One whose creation went unanswered is first known by its update.
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

// parseVersion gives 0 for what is no number; nothing was ever written at 0, so the judge finds it.
func parseVersion(version string) uint64 {
	number, _ := strconv.ParseUint(version, 10, 64)
	return number
}
