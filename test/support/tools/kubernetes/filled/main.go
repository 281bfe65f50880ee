// Command filled prints an object of every kind in which every field is set, with one line of JSON
// per object. Kubernetes' own codecs encode the objects in JSON and in protobuf. Values are short
// and derived from the names of the fields, so that mixed-up fields are visible.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	discoveryv2 "k8s.io/api/apidiscovery/v2"
	discoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

type row struct {
	// ID such as `apps/v1 Deployment`.
	ID       string          `json:"id"`
	JSON     json.RawMessage `json:"json"`
	Protobuf []byte          `json:"protobuf"`
}

func main() {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme,
		admissionv1.AddToScheme, admissionv1beta1.AddToScheme,
		discoveryv2.AddToScheme, discoveryv2beta1.AddToScheme,
		imagepolicyv1alpha1.AddToScheme,
		apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme,
		apiregistrationv1.AddToScheme, apiregistrationv1beta1.AddToScheme,
	} {
		utilruntime.Must(add(known))
	}
	out := json.NewEncoder(os.Stdout)
	for _, kind := range kinds(known) {
		made, err := fill(known, kind)
		if err == nil {
			err = out.Encode(made)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "filled: %s: %v\n", kind, err)
			os.Exit(1)
		}
	}
}

// kinds returns all kinds, except for lists, which contain other kinds, and for the shared kinds
// that every group registers.
func kinds(known *runtime.Scheme) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for kind, of := range known.AllKnownTypes() {
		isShared := strings.HasSuffix(of.PkgPath(), "pkg/apis/meta/v1") && (kind.Group != "" || kind.Version != "v1")
		_, hasItems := of.FieldByName("Items")
		if isShared || hasItems || kind.Version == runtime.APIVersionInternal {
			continue
		}
		all = append(all, kind)
	}
	sort.Slice(all, func(a, b int) bool { return all[a].String() < all[b].String() })
	return all
}

func fill(known *runtime.Scheme, kind schema.GroupVersionKind) (*row, error) {
	object, err := known.New(kind)
	if err != nil {
		return nil, err
	}
	setFields(reflect.ValueOf(object).Elem(), nil)
	object.GetObjectKind().SetGroupVersionKind(kind)
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var message bytes.Buffer
	if err := protobuf.NewSerializer(known, known).Encode(object, &message); err != nil {
		return nil, err
	}
	return &row{kind.GroupVersion().String() + " " + kind.Kind, text, message.Bytes()}, nil
}
