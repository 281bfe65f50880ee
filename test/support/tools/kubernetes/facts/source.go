package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Lines `+name=value` of a comment, which upstream's generators read. A name may come more than once.
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
	// The comment stands before the whole declaration when it declares one thing only.
	doc *ast.CommentGroup
}

// Declarations of one sort on the file's outermost level, with comments that stand a line apart: upstream's generators read these too.
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

// The comment of a declaration, and the comment before that one where nothing stands between them.
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
	// The value of a string or feature by its name.
	values map[string]string
	// The values that are declared of a type.
	of map[string][]string
	// Of other packages, by path.
	others map[string]constants
}

// The type of a constant is declared, or that of the conversion which is its value.
func typeOf(declared, value ast.Expr) string {
	if name := identOf(declared); name != "" {
		return name
	}
	if call, isCall := value.(*ast.CallExpr); isCall {
		return identOf(call.Fun)
	}
	return ""
}

// The text of a constant expression, which may name a constant of another package.
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

// `others` are the constants of packages that were read before, by path.
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

// A default is JSON, or refers to a constant.
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

// What a declaration is read with: the constants of its package and the imports of its file, by the name the file has for them.
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

// A type as Go writes it, with the whole path of a package instead of the file's name for it.
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
