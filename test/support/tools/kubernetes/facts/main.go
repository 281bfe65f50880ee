// Command facts reads the source of the published Kubernetes modules and prints a description of
// the API's types as JSON. The output includes fields in their order, JSON names, protobuf numbers,
// list types, merge keys, enum values, defaults, and the feature gates with their history. The
// program does not compile the modules, so it takes a second and works with any version.
//
//	facts -module k8s.io/api=/path/of/its/source -module k8s.io/kubernetes=/path ...
//
// scripts/catalogue/facts.ts determines the pinned version and calls it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// typeFolders lists the folders with types that are served or stored, by module. `*` matches one
// folder name.
var typeFolders = map[string]string{
	"k8s.io/api":                     "*/v*",
	"k8s.io/apimachinery":            "pkg/apis/meta/v1",
	"k8s.io/apiextensions-apiserver": "pkg/apis/apiextensions/v*",
	"k8s.io/kube-aggregator":         "pkg/apis/apiregistration/v*",
}

// gateFolders lists the packages that declare feature gates of kube-apiserver, by module.
var gateFolders = map[string][]string{
	"k8s.io/apiserver":               {"pkg/features", "pkg/util/feature"},
	"k8s.io/apiextensions-apiserver": {"pkg/features"},
	"k8s.io/component-base":          {"metrics/features", "logs/api/v1", "zpages/features", "featuregate"},
	"k8s.io/controller-manager":      {"pkg/features"},
	"k8s.io/client-go":               {"features"},
	"k8s.io/kubernetes":              {"pkg/features"},
}

type facts struct {
	// Packages by group and version, such as `core/v1`.
	Packages map[string]*packageFacts `json:"packages"`
	Gates    []gateFacts              `json:"gates"`
}

type modules map[string]string

func (all modules) String() string { return fmt.Sprint(map[string]string(all)) }

func (all modules) Set(value string) error {
	name, dir, found := strings.Cut(value, "=")
	if !found {
		return fmt.Errorf("expected name=folder")
	}
	all[name] = dir
	return nil
}

func main() {
	dirs := modules{}
	flag.Var(dirs, "module", "a module and the folder of its source as `name=folder`; repeatable")
	gatesOnly := flag.Bool("gates", false, "read only the feature gates, not the types")
	flag.Parse()
	found := &facts{Packages: map[string]*packageFacts{}}
	err := readGatesOf(dirs, found)
	if err == nil && !*gatesOnly {
		err = readTypes(dirs, found)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "facts:", err)
		os.Exit(1)
	}
}

func readTypes(dirs modules, found *facts) error {
	others := map[string]constants{}
	for module, pattern := range typeFolders {
		dir, known := dirs[module]
		if !known {
			return fmt.Errorf("no folder is given for %s", module)
		}
		folders, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, folder := range folders {
			path := module + strings.TrimPrefix(filepath.ToSlash(folder), filepath.ToSlash(dir))
			own, err := readPackage(folder, path, others)
			if err != nil {
				return err
			}
			if own != nil {
				version := filepath.Base(folder)
				found.Packages[filepath.Base(filepath.Dir(folder))+"/"+version] = own
			}
		}
	}
	return nil
}

func readGatesOf(dirs modules, found *facts) error {
	gates := map[string]gateFacts{}
	for module, folders := range gateFolders {
		dir, known := dirs[module]
		if !known {
			return fmt.Errorf("no folder is given for %s", module)
		}
		for _, folder := range folders {
			if err := readGates(filepath.Join(dir, folder), gates); err != nil {
				return err
			}
		}
	}
	for _, gate := range gates {
		found.Gates = append(found.Gates, gate)
	}
	sort.Slice(found.Gates, func(a, b int) bool { return found.Gates[a].Name < found.Gates[b].Name })
	return nil
}
