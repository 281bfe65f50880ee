package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

type packageFacts struct {
	// API group, as declared in the package.
	Group string `json:"group"`
	// Named types that are not structs, in source order.
	Aliases []aliasFacts `json:"aliases"`
	Types   []typeFacts  `json:"types"`
}

type aliasFacts struct {
	Name   string   `json:"name"`
	Go     string   `json:"go"`
	Values []string `json:"values,omitempty"`
	// Whether this is a Go alias (`type A = B`) instead of a separate type.
	IsSame bool `json:"isSame,omitempty"`
	IsEnum bool `json:"isEnum,omitempty"`
}

type typeFacts struct {
	Name string `json:"name"`
	// Whether the type is a kind. NonNamespaced states whether it has the marker
	// `+genclient:nonNamespaced`, which means that the kind has no namespace.
	IsKind        bool         `json:"isKind,omitempty"`
	IsResource    bool         `json:"isResource,omitempty"`
	NonNamespaced bool         `json:"nonNamespaced,omitempty"`
	Introduced    string       `json:"introduced,omitempty"`
	Removed       string       `json:"removed,omitempty"`
	MapType       string       `json:"mapType,omitempty"`
	Union         *unionFacts  `json:"union,omitempty"`
	Fields        []fieldFacts `json:"fields"`
}

// unionFacts describes a struct in which a discriminator determines which field is set.
type unionFacts struct {
	Discriminator string `json:"discriminator"`
	// The fields that are members of the union. The key is the JSON name, and the value is the Go
	// name.
	Fields map[string]string `json:"fields"`
}

type fieldFacts struct {
	// JSON name of the field. Empty if the fields of its type are inlined.
	Name          string   `json:"name,omitempty"`
	Go            string   `json:"go"`
	OmitEmpty     bool     `json:"omitempty,omitempty"`
	OmitZero      bool     `json:"omitzero,omitempty"`
	Required      bool     `json:"required,omitempty"`
	Proto         int      `json:"proto,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	PatchStrategy string   `json:"patchStrategy,omitempty"`
	PatchMergeKey string   `json:"patchMergeKey,omitempty"`
	// Default as JSON.
	Default string   `json:"default,omitempty"`
	Gates   []string `json:"gates,omitempty"`
}

// readPackage reads the API types of a folder, and returns nil if the folder contains none. It adds
// the constants of the package to `others`, under the import path `path`.
func readPackage(folder, path string, others map[string]constants) (*packageFacts, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	set := token.NewFileSet()
	hasTypes := false
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || isGenerated(name) {
			continue
		}
		hasTypes = hasTypes || name == "types.go"
		file, err := parser.ParseFile(set, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if !hasTypes {
		return nil, nil
	}
	// The file with the kinds comes first, so that the kinds precede all other types.
	sort.SliceStable(files, func(a, b int) bool { return isTypes(set, files[a]) && !isTypes(set, files[b]) })
	constants := readConstants(files, others)
	others[path] = constants
	own := &packageFacts{Group: constants.values["GroupName"]}
	for _, file := range files {
		of := context{constants, importsOf(file)}
		for _, one := range specs[*ast.TypeSpec](file, token.TYPE) {
			marks := readMarks(one.spec.Doc, one.doc)
			if structure, isStruct := one.spec.Type.(*ast.StructType); isStruct {
				if _, isHidden := marks.value("k8s:openapi-gen", "false"); !isHidden && one.spec.Name.IsExported() {
					own.Types = append(own.Types, of.readType(one.spec.Name.Name, structure, marks))
				}
			} else if _, isInterface := one.spec.Type.(*ast.InterfaceType); !isInterface && one.spec.Name.IsExported() {
				own.Aliases = append(own.Aliases, of.readAlias(one.spec, marks))
			}
		}
	}
	return own, nil
}

func isGenerated(name string) bool {
	return strings.HasPrefix(name, "zz_generated") || name == "generated.pb.go" || strings.HasSuffix(name, "_generated.go")
}

func isTypes(set *token.FileSet, file *ast.File) bool {
	return strings.HasPrefix(filepath.Base(set.Position(file.Package).Filename), "types")
}

func (of context) readAlias(spec *ast.TypeSpec, marks marks) aliasFacts {
	alias := aliasFacts{
		Name:   spec.Name.Name,
		Go:     of.typeText(spec.Type),
		IsSame: spec.Assign.IsValid(),
		IsEnum: marks.has("enum"),
	}
	if alias.IsEnum {
		alias.Values = of.constants.of[alias.Name]
		sort.Strings(alias.Values)
	}
	return alias
}

func (of context) readType(name string, structure *ast.StructType, marks marks) typeFacts {
	found := typeFacts{
		Name:          name,
		IsKind:        marks.has("k8s:deepcopy-gen:interfaces"),
		IsResource:    marks.has("genclient"),
		NonNamespaced: marks.has("genclient:nonNamespaced"),
		Introduced:    marks.first("k8s:prerelease-lifecycle-gen:introduced"),
		Removed:       marks.first("k8s:prerelease-lifecycle-gen:removed"),
		MapType:       marks.first("structType"),
		Fields:        []fieldFacts{},
	}
	isUnion := marks.has("union")
	for _, field := range structure.Fields.List {
		read, isShown := of.readField(field)
		if !isShown {
			continue
		}
		found.Fields = append(found.Fields, read)
		fieldMarks := readMarks(field.Doc)
		if isUnion && fieldMarks.has("unionDiscriminator") {
			found.Union = &unionFacts{Discriminator: read.Name, Fields: map[string]string{}}
		}
	}
	if found.Union != nil {
		for _, field := range structure.Fields.List {
			if read, isShown := of.readField(field); isShown && read.Name != found.Union.Discriminator && len(field.Names) > 0 {
				found.Union.Fields[read.Name] = field.Names[0].Name
			}
		}
	}
	return found
}

func (of context) readField(field *ast.Field) (fieldFacts, bool) {
	if field.Tag == nil || (len(field.Names) > 0 && !field.Names[0].IsExported()) {
		return fieldFacts{}, false
	}
	text, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return fieldFacts{}, false
	}
	tag := reflect.StructTag(text)
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	if name == "-" {
		return fieldFacts{}, false
	}
	marks := readMarks(field.Doc)
	read := fieldFacts{
		Name:          name,
		Go:            of.typeText(field.Type),
		OmitEmpty:     strings.Contains(options, "omitempty"),
		OmitZero:      strings.Contains(options, "omitzero"),
		ListType:      marks.first("listType"),
		ListMapKeys:   marks.all("listMapKey"),
		MapType:       marks.first("mapType"),
		PatchStrategy: tag.Get("patchStrategy"),
		PatchMergeKey: tag.Get("patchMergeKey"),
		Default:       of.constants.resolve(marks.first("default")),
		Gates:         gatesOf(marks.all("featureGate")),
	}
	if structType := marks.first("structType"); structType != "" {
		read.MapType = structType
	}
	if parts := strings.Split(tag.Get("protobuf"), ","); len(parts) > 1 {
		read.Proto, _ = strconv.Atoi(parts[1])
	}
	if name != "" {
		read.Required = marks.has("required") || (!marks.has("optional") && !read.OmitEmpty && !read.OmitZero)
	}
	return read, true
}

// gatesOf returns the feature gates in marks. A mark can name several gates, and other words can
// follow.
func gatesOf(marks []string) []string {
	var gates []string
	for _, mark := range marks {
		names, _, _ := strings.Cut(strings.TrimSpace(mark), " ")
		gates = append(gates, strings.Split(names, ",")...)
	}
	return gates
}
