package sourcename

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
)

// Names of lambdas and of classes without a name.

// nameless is what a class without a name is called: a lambda is {lambda(int)#2}, the second one of its function with
// such parameters.
func (n *Teller) nameless(e *dwarfinfo.Entry, depth int) string {
	if text, _ := e.Val(dwarf.AttrLinkageName).(string); text != "" {
		return elffile.Demangle("_Z" + text) // typedef struct { … } name
	}
	parameters, is := n.lambda(e, depth)
	if !is {
		return "{unnamed type}"
	}
	number := 1
	if around := n.around(e); around != nil {
		line, column := standsAt(e)
		// What is damaged has no others.
		_ = n.data.EachChild(around, func(other *dwarfinfo.Entry) (bool, error) {
			if l, c := standsAt(other); l < line || l == line && c < column {
				if same, is := n.lambda(other, depth); is && same == parameters {
					number++
				}
			}
			return true, nil
		})
	}
	return fmt.Sprintf("{lambda(%s)#%d}", parameters, number)
}

// standsAt is the line and the column of the source where an entry is declared.
func standsAt(e *dwarfinfo.Entry) (line, column int64) {
	line, _ = e.Val(dwarf.AttrDeclLine).(int64)
	column, _ = e.Val(dwarf.AttrDeclColumn).(int64)
	return line, column
}

// lambda gives the types of the parameters of a lambda, by its class; false of any other entry. Its class has no name,
// and a constructor that g++ calls <lambda>.
func (n *Teller) lambda(class *dwarfinfo.Entry, depth int) (parameters string, is bool) {
	if class.Tag != dwarf.TagStructType || class.Has(dwarf.AttrName) || class.Has(dwarf.AttrLinkageName) {
		return "", false
	}
	// What is damaged is no lambda.
	_ = n.data.EachChild(class, func(e *dwarfinfo.Entry) (bool, error) {
		switch name, _ := e.Val(dwarf.AttrName).(string); {
		case e.Tag == dwarf.TagSubprogram && name == "operator()":
			parameters = n.parameters(e, depth)
		case e.Tag == dwarf.TagSubprogram && name == "<lambda>":
			is = true
		}
		return true, nil
	})
	return parameters, is
}

// parameters are the types of those of a function.
func (n *Teller) parameters(e *dwarfinfo.Entry, depth int) string {
	var list []string
	// What is damaged has fewer.
	_ = n.data.EachChild(e, func(p *dwarfinfo.Entry) (bool, error) {
		if made, _ := p.Val(dwarf.AttrArtificial).(bool); p.Tag == dwarf.TagFormalParameter && !made {
			list = append(list, n.typeText(p, depth))
		}
		return true, nil
	})
	return strings.Join(list, ", ")
}

// typeText is the type of an entry as names of the linker are shown.
func (n *Teller) typeText(of *dwarfinfo.Entry, depth int) string {
	at, ok := of.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return "void"
	}
	e, err := n.data.Entry(at)
	if err != nil || e == nil || depth > maxDepth {
		return "?"
	}
	switch e.Tag {
	case dwarf.TagPointerType:
		return n.typeText(e, depth+1) + "*"
	case dwarf.TagReferenceType:
		return n.typeText(e, depth+1) + "&"
	case dwarf.TagRvalueReferenceType:
		return n.typeText(e, depth+1) + "&&"
	case dwarf.TagConstType:
		return n.typeText(e, depth+1) + " const"
	case dwarf.TagTypedef:
		return n.typeText(e, depth+1)
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	if e.Tag == dwarf.TagBaseType {
		return numbers.Replace(name)
	}
	return n.within(e, depth+1) + spelled(name)
}
