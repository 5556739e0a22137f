package dashboard_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"
	"text/template/parse"
)

// templateWalk goes through one template.
type templateWalk struct {
	*templateCheck
	tree *parse.Tree
	vars map[string]value
}

func (w *templateWalk) wrong(n parse.Node, format string, args ...any) value {
	at, context := w.tree.ErrorContext(n)
	w.Errorf("%s: %s: %s", at, context, fmt.Sprintf(format, args...))
	return value{}
}

func (w *templateWalk) list(list *parse.ListNode, dot value) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			w.pipe(n.Pipe, dot)
		case *parse.IfNode:
			w.branch(n.BranchNode, dot, func(value) value { return dot })
		case *parse.WithNode:
			w.branch(n.BranchNode, dot, func(of value) value { return of })
		case *parse.RangeNode:
			w.branch(n.BranchNode, dot, func(of value) value { return w.element(n, of) })
		case *parse.TemplateNode:
			inner := value{Type: types.Typ[types.UntypedNil]}
			if n.Pipe != nil {
				inner = w.pipe(n.Pipe, dot)
			}
			w.template(n.Name, inner)
		}
	}
}

// branch checks both ways. inside is the dot of the first.
func (w *templateWalk) branch(n parse.BranchNode, dot value, inside func(of value) value) {
	outer := w.vars
	w.vars = maps.Clone(outer)
	of := w.pipe(n.Pipe, dot)
	in := inside(of)
	if n.NodeType == parse.NodeRange && len(n.Pipe.Decl) > 0 {
		key := types.Typ[types.Int]
		if of.Type != nil {
			if _, isMap := of.Underlying().(*types.Map); isMap {
				key = types.Typ[types.String]
			}
		}
		w.vars[n.Pipe.Decl[0].Ident[0]] = value{Type: key}
		w.vars[n.Pipe.Decl[len(n.Pipe.Decl)-1].Ident[0]] = in
	}
	w.list(n.List, in)
	w.list(n.ElseList, dot)
	w.vars = outer
}

func (w *templateWalk) element(n parse.Node, of value) value {
	if of.Type == nil {
		return of
	}
	switch t := of.Underlying().(type) {
	case *types.Slice:
		return value{Type: t.Elem(), addressable: true}
	case *types.Map:
		return value{Type: t.Elem()}
	case *types.Basic:
		if t.Info()&types.IsInteger != 0 {
			return value{Type: types.Typ[types.Int]}
		}
	}
	return w.wrong(n, "%s isn't a list", of.Type)
}

func (w *templateWalk) pipe(p *parse.PipeNode, dot value) value {
	var last []value
	for _, command := range p.Cmds {
		last = []value{w.command(command.Args, dot, last)}
	}
	for _, v := range p.Decl {
		w.vars[v.Ident[0]] = last[0]
	}
	return last[0]
}

// command checks a value, or a call: its last argument may come through a pipe.
func (w *templateWalk) command(nodes []parse.Node, dot value, last []value) value {
	var args []value
	for _, n := range nodes[1:] {
		args = append(args, w.command([]parse.Node{n}, dot, nil))
	}
	args = append(args, last...)
	switch n := nodes[0].(type) {
	case *parse.FieldNode:
		return w.fields(n, dot, n.Ident, args)
	case *parse.ChainNode:
		return w.fields(n, w.command([]parse.Node{n.Node}, dot, nil), n.Field, args)
	case *parse.VariableNode:
		return w.fields(n, w.vars[n.Ident[0]], n.Ident[1:], args)
	case *parse.IdentifierNode:
		return w.function(n, args)
	case *parse.PipeNode:
		return w.pipe(n, dot)
	case *parse.DotNode:
		return dot
	}
	literal := w.inGo(nodes[0], nodes[0].String())
	literal.literal = nodes[0].String()
	return literal
}

// fields follows names from a value. The last may be a method with arguments.
func (w *templateWalk) fields(n parse.Node, of value, names []string, args []value) value {
	for i, name := range names {
		if of.Type == nil {
			return of
		}
		found, _, _ := types.LookupFieldOrMethod(of.Type, of.addressable, w.pkg, name)
		field, _ := found.(*types.Var)
		inner, known := of.within[field]
		switch _, pointer := of.Underlying().(*types.Pointer); {
		case known:
			of = inner
		case field != nil:
			of = value{Type: w.inGo(n, "x0."+name, of).Type, addressable: of.addressable || pointer}
		case i == len(names)-1:
			of, args = w.inGo(n, "x0."+name+call, append([]value{of}, args...)...), nil
		default:
			of = w.inGo(n, "x0."+name+"()", of)
		}
	}
	if len(args) > 0 {
		return w.wrong(n, "a field has no arguments")
	}
	return of
}

// call stands for the arguments x1, x2 and so on, in the code for inGo.
const call = "(…)"

// inGo is what the language says of code, in which x0, x1 and so on are values of
// the template. What isn't addressable there isn't here.
func (w *templateWalk) inGo(n parse.Node, pattern string, of ...value) value {
	code := pattern
	pkg, names := types.NewPackage("template", "template"), make([]string, len(of))
	for i, v := range of {
		names[i] = fmt.Sprint("x", i)
		switch {
		case v.Type == nil:
			return v
		case v.literal != "":
			names[i] = v.literal
		case v.addressable:
			pkg.Scope().Insert(types.NewVar(token.NoPos, pkg, names[i], v.Type))
		default:
			result := types.NewTuple(types.NewVar(token.NoPos, pkg, "", v.Type))
			pkg.Scope().Insert(types.NewVar(token.NoPos, pkg, names[i], types.NewSignatureType(nil, nil, nil, nil, result, false)))
			names[i] += "()"
		}
		code = strings.ReplaceAll(code, fmt.Sprint("x", i), names[i])
	}
	if len(of) > 0 {
		code = strings.Replace(code, call, "("+strings.Join(names[1:], ", ")+")", 1)
	}
	result, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, code)
	if err == nil {
		return value{Type: result.Type}
	}
	for i, v := range of {
		if pointer, ok := v.Underlying().(*types.Pointer); ok && i > 0 { // templates follow it where that is needed
			of[i] = value{Type: pointer.Elem(), addressable: true}
			return w.inGo(n, pattern, of...)
		}
	}
	return w.wrong(n, "%v", err)
}

// operators are functions of the templates, as code.
var operators = map[string]string{
	"eq": "x0 == x1", "ne": "x0 != x1", "lt": "x0 < x1", "le": "x0 <= x1", "gt": "x0 > x1", "ge": "x0 >= x1",
	"len": "len(x0)", "index": "x0[x1]", "not": "true", "print": `""`, "printf": `""`,
}

func (w *templateWalk) function(n *parse.IdentifierNode, args []value) value {
	code, ok := operators[n.Ident]
	switch {
	case ok:
		return w.inGo(n, code, args...)
	case n.Ident == "and", n.Ident == "or":
		return args[len(args)-1]
	case w.funcs[n.Ident] == nil:
		return w.wrong(n, "there is no such function")
	}
	f := w.funcs[n.Ident]
	result := w.inGo(n, "x0"+call, append([]value{{Type: w.info.Types[f].Type}}, args...)...)
	if literal, ok := f.(*ast.FuncLit); ok && result.Type != nil {
		return w.made(literal, result, args)
	}
	return result
}

// made is the struct that a function returns, with what it puts into fields of type
// any.
func (w *templateWalk) made(f *ast.FuncLit, result value, args []value) value {
	literal, ok := f.Body.List[len(f.Body.List)-1].(*ast.ReturnStmt).Results[0].(*ast.CompositeLit)
	if !ok {
		return result
	}
	result = value{Type: w.info.Types[literal].Type, within: map[*types.Var]value{}}
	for i, e := range literal.Elts {
		id, ok := e.(*ast.Ident)
		for j := range args {
			if !ok || w.info.Uses[id] != w.info.Types[f].Type.(*types.Signature).Params().At(j) {
				continue
			}
			maps.Copy(result.within, args[j].within)
			if field := result.Underlying().(*types.Struct).Field(i); types.IsInterface(field.Type()) {
				result.within[field] = args[j]
			}
		}
	}
	return result
}
