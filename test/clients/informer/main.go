// Command informer runs client-go's shared informers over many objects while it writes them, and
// verifies what they observe.
//
// It creates its objects, waits until the informers have received them, prints a line, and
// continues to write until its standard input ends. In the meantime, the parent process can stop
// and restart the server. Then the program compares the acknowledged writes, the events of the
// watches, the state of the informers and a fresh list. It prints the verdict as one line of JSON.
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

// settleMax is the maximum time for the informers to catch up after the last write. After repeated
// failures, the reflector waits up to 30 s between attempts.
const settleMax = 60 * time.Second

// requestMax is the timeout of a request, whose response may be lost when its server is killed.
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
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig")
	flag.StringVar(&o.namespace, "namespace", "watched", "namespace of the ConfigMaps, which is created")
	flag.IntVar(&o.objects, "objects", 5000, "number of ConfigMaps")
	flag.IntVar(&o.spaces, "spaces", 20, "number of Namespaces")
	flag.IntVar(&o.writers, "writers", 4, "number of parallel writers")
	flag.DurationVar(&o.pause, "pause", 5*time.Millisecond, "pause of a writer between two writes")
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
		return fmt.Errorf("the informers did not sync")
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
		// There are few Namespaces, so one writer is enough.
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
	// Ignore the error, because a map of integers and a plain struct can always be encoded.
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
	// Raise the limit, because the client's default of 5 requests per second would be the bottleneck.
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// informerFor returns a shared informer whose unmodified lists and watch events are also passed to
// an observer.
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
	// Errors are expected while the server is down. If they persist, the verdict shows them.
	_ = informer.SetWatchErrorHandler(func(*cache.Reflector, error) { seen.failed() })
	_, _ = informer.AddEventHandler(seen.handler())
	return informer
}
