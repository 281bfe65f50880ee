package main

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// kind provides the operations that the writers, the informers and the judge need for a resource.
// The revision is a counter that is stored in the object, so that every write changes it.
type kind interface {
	list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)
	watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	get(ctx context.Context, name string) (metav1.Object, error)
	create(ctx context.Context, name string, revision int) (metav1.Object, error)
	update(ctx context.Context, name string, revision int) (metav1.Object, error)
	remove(ctx context.Context, name string) error
}

type configMaps struct {
	client    *kubernetes.Clientset
	namespace string
}

func (k configMaps) object(name string, revision int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.namespace},
		Data:       map[string]string{"revision": strconv.Itoa(revision), "name": "<é & " + name + ">"},
	}
}

func (k configMaps) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return k.client.CoreV1().ConfigMaps(k.namespace).List(ctx, options)
}

func (k configMaps) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return k.client.CoreV1().ConfigMaps(k.namespace).Watch(ctx, options)
}

func (k configMaps) get(ctx context.Context, name string) (metav1.Object, error) {
	return k.client.CoreV1().ConfigMaps(k.namespace).Get(ctx, name, metav1.GetOptions{})
}

func (k configMaps) create(ctx context.Context, name string, revision int) (metav1.Object, error) {
	return k.client.CoreV1().ConfigMaps(k.namespace).Create(ctx, k.object(name, revision), metav1.CreateOptions{})
}

func (k configMaps) update(ctx context.Context, name string, revision int) (metav1.Object, error) {
	return k.client.CoreV1().ConfigMaps(k.namespace).Update(ctx, k.object(name, revision), metav1.UpdateOptions{})
}

func (k configMaps) remove(ctx context.Context, name string) error {
	return k.client.CoreV1().ConfigMaps(k.namespace).Delete(ctx, name, metav1.DeleteOptions{})
}

// namespaces handles the Namespaces that this program creates. A label with the program's own
// namespace distinguishes them from others.
type namespaces struct {
	client *kubernetes.Clientset
	owner  string
}

const ownerLabel = "keelson.test/owner"

func namespaceOf(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func (k namespaces) fullName(name string) string { return k.owner + "-" + name }

func (k namespaces) object(name string, revision int) *corev1.Namespace {
	return namespaceOf(k.fullName(name), map[string]string{ownerLabel: k.owner, "revision": strconv.Itoa(revision)})
}

func (k namespaces) selected(options metav1.ListOptions) metav1.ListOptions {
	options.LabelSelector = fields.Set{ownerLabel: k.owner}.String()
	return options
}

func (k namespaces) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return k.client.CoreV1().Namespaces().List(ctx, k.selected(options))
}

func (k namespaces) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return k.client.CoreV1().Namespaces().Watch(ctx, k.selected(options))
}

func (k namespaces) get(ctx context.Context, name string) (metav1.Object, error) {
	return k.client.CoreV1().Namespaces().Get(ctx, k.fullName(name), metav1.GetOptions{})
}

func (k namespaces) create(ctx context.Context, name string, revision int) (metav1.Object, error) {
	return k.client.CoreV1().Namespaces().Create(ctx, k.object(name, revision), metav1.CreateOptions{})
}

// An update must contain the whole Namespace. Without the finalizer in the spec, it would be
// rejected.
func (k namespaces) update(ctx context.Context, name string, revision int) (metav1.Object, error) {
	space, err := k.client.CoreV1().Namespaces().Get(ctx, k.fullName(name), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	space.Labels["revision"] = strconv.Itoa(revision)
	return k.client.CoreV1().Namespaces().Update(ctx, space, metav1.UpdateOptions{})
}

// The program itself finalizes the Namespace, because the server runs without the controller that
// does this.
func (k namespaces) remove(ctx context.Context, name string) error {
	if err := k.client.CoreV1().Namespaces().Delete(ctx, k.fullName(name), metav1.DeleteOptions{}); err != nil {
		return err
	}
	space, err := k.client.CoreV1().Namespaces().Get(ctx, k.fullName(name), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if space.DeletionTimestamp == nil {
		return fmt.Errorf("namespace %s has no deletionTimestamp after its deletion", space.Name)
	}
	space.Spec.Finalizers = nil
	_, err = k.client.CoreV1().Namespaces().Finalize(ctx, space, metav1.UpdateOptions{})
	return err
}
