// Command informer runs client-go's shared informers over many objects while it writes them, and judges what it saw.
//
// It creates its objects, waits until the informers have them, prints a line that says so, and goes on writing until its
// standard input ends. Whoever started it may do anything to the server meanwhile. Then it compares: what was
// acknowledged, what the watches told, what the informers hold, and what a fresh list says. It prints the verdict as
// one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// settleMax is how long the informers may take to catch up once the writing has ended. The reflector waits up to 30 s
// between attempts after a run of failures.
const settleMax = 60 * time.Second

// requestMax ends a request whose answer was lost with its server.
const requestMax = 15 * time.Second

type options struct {
	kubeconfig string
	namespace  string
	objects    int
	spaces     int
	writers    int
	pause      time.Duration
}

type verdict struct {
	ConfigMaps *report  `json:"configMaps"`
	Namespaces *report  `json:"namespaces"`
	Faults     []string `json:"faults"`
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the server")
	flag.StringVar(&o.namespace, "namespace", "watched", "where the ConfigMaps go; it is made here")
	flag.IntVar(&o.objects, "objects", 5000, "how many ConfigMaps there are")
	flag.IntVar(&o.spaces, "spaces", 20, "how many Namespaces there are")
	flag.IntVar(&o.writers, "writers", 4, "how many write at once")
	flag.DurationVar(&o.pause, "pause", 5*time.Millisecond, "how long a writer waits between two writes")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	client, err := connect(o.kubeconfig)
	if err != nil {
		return err
	}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespaceOf(o.namespace, nil), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", o.namespace, err)
	}
	maps, spaces := configMaps{client, o.namespace}, namespaces{client, o.namespace}
	mapLedger, spaceLedger := newLedger(), newLedger()
	if err := fill(ctx, maps, mapLedger, o.objects); err != nil {
		return err
	}
	if err := fill(ctx, spaces, spaceLedger, o.spaces); err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	mapsSeen, spacesSeen := newObserver(), newObserver()
	mapInformer := informerFor(&corev1.ConfigMap{}, maps, mapsSeen)
	spaceInformer := informerFor(&corev1.Namespace{}, spaces, spacesSeen)
	go mapInformer.Run(ctx.Done())
	go spaceInformer.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), mapInformer.HasSynced, spaceInformer.HasSynced) {
		return fmt.Errorf("the informers did not fill")
	}
	say(map[string]int{"synced": len(mapInformer.GetStore().ListKeys())})

	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	done := make(chan struct{})
	go func() {
		write(writing, maps, mapLedger, o)
		close(done)
	}()
	spacesDone := make(chan struct{})
	go func() {
		// Few objects, so one writer.
		write(writing, spaces, spaceLedger, options{writers: 1, pause: 10 * o.pause})
		close(spacesDone)
	}()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	stopWriting()
	<-done
	<-spacesDone

	result := verdict{Faults: []string{}}
	result.ConfigMaps = judge(ctx, "configmaps", maps, mapLedger, mapsSeen, mapInformer.GetStore(), &result.Faults)
	result.Namespaces = judge(ctx, "namespaces", spaces, spaceLedger, spacesSeen, spaceInformer.GetStore(), &result.Faults)
	say(result)
	return nil
}

func say(line any) {
	// A map of integers and a plain struct always encode.
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	// Its own limit of 5 requests a second would be the slowest part.
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// informerFor is a shared informer whose lists and watches are also shown to an observer, as they came.
func informerFor(example runtime.Object, kind kind, seen *observer) cache.SharedIndexInformer {
	source := &cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			list, err := kind.list(context.Background(), options)
			if err == nil {
				seen.listed(list)
			}
			return list, err
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			events, err := kind.watch(context.Background(), options)
			if err != nil {
				return nil, err
			}
			follow := seen.watching(options)
			return watch.Filter(events, func(event watch.Event) (watch.Event, bool) {
				follow(event)
				return event, true
			}), nil
		},
	}
	informer := cache.NewSharedIndexInformer(source, example, 0, cache.Indexers{})
	// Its errors are those of a server that is down: expected here, and told by the verdict if they last.
	_ = informer.SetWatchErrorHandler(func(*cache.Reflector, error) { seen.failed() })
	_, _ = informer.AddEventHandler(seen.handler())
	return informer
}
