package keelsontesting_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	keelsontesting "github.com/keelson/keelson/clients/go"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

func Example() {
	ctx := context.Background()
	cluster, err := keelsontesting.Start(ctx, keelsontesting.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Stop()

	if _, err := cluster.ApplyText(ctx, `
apiVersion: v1
kind: ConfigMap
metadata: {name: prices}
`); err != nil {
		log.Fatal(err)
	}
	response, err := cluster.Request(ctx, keelsontesting.Request{Path: configMaps + "/prices"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status)
	// Output: 200
}

func ExampleCluster_Fault() {
	ctx := context.Background()
	cluster, err := keelsontesting.Start(ctx, keelsontesting.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Stop()

	match := keelsontesting.Match{Verbs: []string{"create"}, Resource: "configmaps", Times: 1}
	fault, err := cluster.Fault(ctx, match, keelsontesting.Fail{Status: 503})
	if err != nil {
		log.Fatal(err)
	}
	create := keelsontesting.Request{
		Method: http.MethodPost,
		Path:   configMaps,
		Body:   map[string]any{"metadata": map[string]any{"name": "prices"}},
	}
	// A Kubernetes client would be used in the same way.
	for range [2]int{} {
		response, err := cluster.Send(ctx, create)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(response.Status)
	}
	hits, err := fault.Hits(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits, "hit")
	// Output:
	// 503
	// 201
	// 1 hit
}

func ExampleCluster_AdvanceClock() {
	ctx := context.Background()
	start := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	cluster, err := keelsontesting.Start(ctx, keelsontesting.Options{Now: start})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Stop()

	now, err := cluster.AdvanceClock(ctx, 48*time.Hour)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Format(time.DateOnly))
	// Output: 2030-01-03
}
