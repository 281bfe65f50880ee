package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

type gateFacts struct {
	Name    string      `json:"name"`
	History []gateStage `json:"history"`
}

type gateStage struct {
	Since   string `json:"since"`
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked,omitempty"`
	// If set, the stage applies only if all servers of a cluster have at least this version.
	MinCompatibility string `json:"minCompatibility,omitempty"`
}

// readGates reads feature gates from the map literals in a folder. A key is the name of a gate, and
// its value is a list of stages. If the folder does not exist in this version, there are no gates.
func readGates(folder string, into map[string]gateFacts) error {
	entries, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".go") && !strings.HasSuffix(entry.Name(), "_test.go") {
			file, err := parser.ParseFile(set, filepath.Join(folder, entry.Name()), nil, 0)
			if err != nil {
				return err
			}
			files = append(files, file)
		}
	}
	constants := readConstants(files, nil)
	isTrue := trueConstants(files)
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			pair, isPair := node.(*ast.KeyValueExpr)
			if !isPair {
				return true
			}
			stages, isList := pair.Value.(*ast.CompositeLit)
			name := gateName(pair.Key, constants)
			if !isList || name == "" {
				return true
			}
			gate := gateFacts{Name: name}
			// In client-go, the value can be a single stage instead of a list.
			if only := readStage(stages, isTrue); only.Stage != "" {
				gate.History = append(gate.History, only)
			}
			for _, stage := range stages.Elts {
				if literal, isLiteral := stage.(*ast.CompositeLit); isLiteral {
					if read := readStage(literal, isTrue); read.Stage != "" {
						gate.History = append(gate.History, read)
					}
				}
			}
			if len(gate.History) > 0 {
				into[name] = gate
			}
			return true
		})
	}
	return nil
}

// gateName returns the name of the gate that a key denotes. If the key is a constant of this
// package, this is the value of the constant. If it is a constant of another package, its own name
// is used, which is also the name of the gate.
func gateName(key ast.Expr, constants constants) string {
	switch key := key.(type) {
	case *ast.Ident:
		return constants.values[key.Name]
	case *ast.SelectorExpr:
		return key.Sel.Name
	}
	return ""
}

// trueConstants returns the names of all constants with the value true, and the word `true` itself.
func trueConstants(files []*ast.File) map[string]bool {
	names := map[string]bool{"true": true}
	for _, file := range files {
		for _, one := range specs[*ast.ValueSpec](file, token.CONST) {
			for at, name := range one.spec.Names {
				if at < len(one.spec.Values) && identOf(one.spec.Values[at]) == "true" {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}

func readStage(literal *ast.CompositeLit, isTrue map[string]bool) gateStage {
	read := gateStage{}
	for _, element := range literal.Elts {
		pair, isPair := element.(*ast.KeyValueExpr)
		if !isPair {
			return gateStage{}
		}
		key, _ := pair.Key.(*ast.Ident)
		if key == nil {
			return gateStage{}
		}
		switch key.Name {
		case "Version":
			read.Since, _ = textOf(pair.Value)
		case "MinCompatibilityVersion":
			read.MinCompatibility, _ = textOf(pair.Value)
		case "Default":
			read.Default = isTrue[identOf(pair.Value)]
		case "LockToDefault":
			read.Locked = isTrue[identOf(pair.Value)]
		case "PreRelease":
			read.Stage = strings.ToUpper(identOf(pair.Value))
		}
	}
	return read
}

func identOf(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.Ident:
		return expression.Name
	case *ast.SelectorExpr:
		return expression.Sel.Name
	}
	return ""
}
