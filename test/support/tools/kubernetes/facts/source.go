package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// marks holds the lines `+name=value` of a comment, which Kubernetes' generators read. A name can
// occur more than once.
type marks map[string][]string

func readMarks(groups ...*ast.CommentGroup) marks {
	found := marks{}
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if !strings.HasPrefix(text, "+") {
				continue
			}
			name, value, _ := strings.Cut(text[1:], "=")
			found[name] = append(found[name], value)
		}
	}
	return found
}

func (all marks) has(name string) bool { return len(all[name]) > 0 }

func (all marks) all(name string) []string { return all[name] }

func (all marks) first(name string) string {
	if len(all[name]) == 0 {
		return ""
	}
	return strings.TrimSpace(all[name][0])
}

func (all marks) value(name, wanted string) (string, bool) {
	for _, value := range all[name] {
		if value == wanted {
			return value, true
		}
	}
	return "", false
}

type found[Spec any] struct {
	spec Spec
	// The comment above the declaration. For a declaration with several names in parentheses, this is
	// the comment above all of them.
	doc *ast.CommentGroup
}

// specs returns the top-level declarations of one kind, with the comments that precede them after a
// blank line. Kubernetes' generators also read these comments.
func specs[Spec any](file *ast.File, sort token.Token) []found[Spec] {
	var all []found[Spec]
	for _, decl := range file.Decls {
		declared, isOf := decl.(*ast.GenDecl)
		if !isOf || declared.Tok != sort {
			continue
		}
		for _, one := range declared.Specs {
			if spec, isSpec := one.(Spec); isSpec {
				all = append(all, found[Spec]{spec, apart(file, declared)})
			}
		}
	}
	return all
}

// apart returns the comment above a declaration. It also returns comments further above, separated
// by blank lines, which belong to no other declaration.
func apart(file *ast.File, declared *ast.GenDecl) *ast.CommentGroup {
	start := declared.Pos()
	joined := &ast.CommentGroup{}
	if declared.Doc != nil {
		start = declared.Doc.Pos()
		joined.List = append(joined.List, declared.Doc.List...)
	}
	var before ast.Decl
	for _, decl := range file.Decls {
		if decl.End() < start {
			before = decl
		}
	}
	for _, group := range file.Comments {
		if group.End() < start && (before == nil || group.Pos() > before.End()) {
			joined.List = append(joined.List, group.List...)
		}
	}
	return joined
}

type constants struct {
	// Values of string constants and features by name.
	values map[string]string
	// Values of the constants of each type.
	of map[string][]string
	// The constants of other packages. The key is the import path of the package.
	others map[string]constants
}

// typeOf returns the declared type of a constant, or the type of the conversion that is its value.
func typeOf(declared, value ast.Expr) string {
	if name := identOf(declared); name != "" {
		return name
	}
	if call, isCall := value.(*ast.CallExpr); isCall {
		return identOf(call.Fun)
	}
	return ""
}

// textOf returns the text of a constant expression, which can refer to a constant of another
// package.
func (known constants) textOf(expression ast.Expr, imports map[string]string) (string, bool) {
	switch expression := expression.(type) {
	case *ast.CallExpr:
		if len(expression.Args) == 1 {
			return known.textOf(expression.Args[0], imports)
		}
	case *ast.SelectorExpr:
		text, isKnown := known.others[imports[identOf(expression.X)]].values[expression.Sel.Name]
		return text, isKnown
	}
	return textOf(expression)
}

// readConstants reads the constants of files. `others` holds the constants of packages that were
// read earlier, by import path.
func readConstants(files []*ast.File, others map[string]constants) constants {
	known := constants{map[string]string{}, map[string][]string{}, others}
	for _, file := range files {
		for _, one := range specs[*ast.ValueSpec](file, token.CONST) {
			for at, name := range one.spec.Names {
				if at >= len(one.spec.Values) {
					continue
				}
				value, isText := known.textOf(one.spec.Values[at], importsOf(file))
				if !isText {
					continue
				}
				known.values[name.Name] = value
				if typeName := typeOf(one.spec.Type, one.spec.Values[at]); typeName != "" && !contains(known.of[typeName], value) {
					known.of[typeName] = append(known.of[typeName], value)
				}
			}
		}
	}
	return known
}

// resolve returns a default value as JSON. The text is either JSON, or a reference to a constant.
func (known constants) resolve(text string) string {
	inner, isReference := strings.CutPrefix(text, "ref(")
	if !isReference {
		return text
	}
	return strconv.Quote(known.values[strings.TrimSuffix(inner, ")")])
}

func textOf(expression ast.Expr) (string, bool) {
	if call, isCall := expression.(*ast.CallExpr); isCall && len(call.Args) == 1 {
		return textOf(call.Args[0])
	}
	literal, isLiteral := expression.(*ast.BasicLit)
	if !isLiteral || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

func contains(all []string, wanted string) bool {
	for _, one := range all {
		if one == wanted {
			return true
		}
	}
	return false
}

// context holds the constants of a declaration's package and the imports of its file, by local
// name.
type context struct {
	constants constants
	imports   map[string]string
}

func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, one := range file.Imports {
		path, _ := strconv.Unquote(one.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if one.Name != nil {
			name = one.Name.Name
		}
		imports[name] = path
	}
	return imports
}

// typeText returns a type in Go syntax, with the full path of a package instead of its local name.
func (of context) typeText(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.StarExpr:
		return "*" + of.typeText(expression.X)
	case *ast.ArrayType:
		return "[]" + of.typeText(expression.Elt)
	case *ast.MapType:
		return "map[" + of.typeText(expression.Key) + "]" + of.typeText(expression.Value)
	case *ast.SelectorExpr:
		return of.imports[identOf(expression.X)] + "." + expression.Sel.Name
	}
	return identOf(expression)
}
