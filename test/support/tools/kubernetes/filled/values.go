package main

import (
	"hash/fnv"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// sameTypeMax limits the recursion of types. If a type contains itself, the inner object is also
// filled, but contains no further object of this type.
const sameTypeMax = 2

// textCharacters is the length of strings. It is long enough to distinguish fields, but short
// enough to keep the recorded file small.
const textCharacters = 4

// setFields sets every field. `within` contains the enclosing types.
func setFields(of reflect.Value, within []reflect.Type) {
	within = append(within, of.Type())
	for at := range of.NumField() {
		field := of.Type().Field(at)
		if field.IsExported() && !(field.Anonymous && field.Type == reflect.TypeFor[metav1.TypeMeta]()) {
			set(of.Field(at), field.Name, within)
		}
	}
}

func set(value reflect.Value, name string, within []reflect.Type) {
	number := numberOf(name)
	if special(value, name, number) {
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(strings.ToLower(name[:min(textCharacters, len(name))]) + string(rune('a'+number%26)))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32:
		value.SetInt(number)
	case reflect.Int64:
		// This number needs more than 32 bits, but can be represented exactly as a double.
		value.SetInt(1<<33 + number)
	case reflect.Float64:
		value.SetFloat(float64(number) + 0.5)
	case reflect.Uint8:
		value.SetUint(uint64(number % 256))
	case reflect.Pointer:
		if count(within, value.Type().Elem()) < sameTypeMax {
			value.Set(reflect.New(value.Type().Elem()))
			set(value.Elem(), name, within)
		}
	case reflect.Slice:
		if count(within, value.Type().Elem()) < sameTypeMax {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			set(value.Index(0), name, within)
		}
	case reflect.Map:
		if count(within, value.Type().Elem()) < sameTypeMax {
			setEntry(value, name, within)
		}
	case reflect.Struct:
		setFields(value, within)
	}
}

func setEntry(value reflect.Value, name string, within []reflect.Type) {
	key := reflect.New(value.Type().Key()).Elem()
	set(key, "Key"+name[:1], within)
	entry := reflect.New(value.Type().Elem()).Elem()
	set(entry, name, within)
	value.Set(reflect.MakeMap(value.Type()))
	value.SetMapIndex(key, entry)
}

// special sets types whose JSON form differs from that of their fields. It returns whether it has
// set the value.
func special(value reflect.Value, name string, number int64) bool {
	moment := time.Date(2024, 2, 29, 12, int(number%60), int(number%59), 0, time.UTC)
	raw := []byte(`{"` + strings.ToLower(name) + `":[1,"x",null]}`)
	switch target := value.Addr().Interface().(type) {
	case *metav1.Time:
		*target = metav1.NewTime(moment)
	case *metav1.MicroTime:
		*target = metav1.NewMicroTime(moment.Add(time.Duration(number) * time.Microsecond))
	case *metav1.Duration:
		target.Duration = time.Duration(number) * time.Second
	case *metav1.FieldsV1:
		target.Raw = []byte(`{"f:` + strings.ToLower(name) + `":{}}`)
	case *resource.Quantity:
		*target = *resource.NewQuantity(number, resource.DecimalSI)
		_ = target.String() // Caches the string, as if it had been decoded from JSON.
	case *intstr.IntOrString:
		if number%2 == 0 {
			*target = intstr.FromInt32(int32(number))
		} else {
			*target = intstr.FromString("7%")
		}
	case *runtime.RawExtension:
		target.Raw = raw
	case *apiextensionsv1.JSON:
		target.Raw = raw
	case *apiextensionsv1beta1.JSON:
		target.Raw = raw
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		target.Allows = true
	case *apiextensionsv1beta1.JSONSchemaPropsOrBool:
		target.Allows = true
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		target.Property = []string{"one", "two"}
	case *apiextensionsv1beta1.JSONSchemaPropsOrStringArray:
		target.Property = []string{"one", "two"}
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		target.Schema = &apiextensionsv1.JSONSchemaProps{Type: "string"}
	case *apiextensionsv1beta1.JSONSchemaPropsOrArray:
		target.Schema = &apiextensionsv1beta1.JSONSchemaProps{Type: "string"}
	default:
		return false
	}
	return true
}

// numberOf returns a number that depends only on the name. A struct therefore has the same values
// wherever it occurs.
func numberOf(name string) int64 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return int64(sum.Sum32()%900) + 100
}

func count(within []reflect.Type, wanted reflect.Type) int {
	seen := 0
	for _, one := range within {
		if one == wanted {
			seen++
		}
	}
	return seen
}
