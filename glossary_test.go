package startrace_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manyPackages is how many packages may have a type of one name before the name is a word of the house.
const manyPackages = 4

// A word that is the name of a type in many packages has one meaning, which the glossary of docs/architecture.md says.
// A word of the glossary is used: as a type, or in the documents of the language.
func TestGlossary(t *testing.T) {
	architecture, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(architecture), "\n## Glossary\n")
	if !ok {
		t.Fatal("docs/architecture.md has no glossary")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	glossary := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(text, -1) {
		if row[1] == "word" { // the head of a table
			continue
		}
		if glossary[row[1]] {
			t.Errorf("the glossary has %s twice", row[1])
		}
		glossary[row[1]] = true
	}
	types := typeNames(t)
	for name, folders := range types {
		if len(folders) >= manyPackages && !glossary[name] {
			t.Errorf("%d packages have a type %s, which is not in the glossary of docs/architecture.md: "+
				"give those that are another thing another name, and say there what the others are: %s", len(folders),
				name, strings.Join(folders, ", "))
		}
	}
	for word := range glossary {
		if types[word] == nil && !saidByDocuments(t, word) {
			t.Errorf("the glossary has %s, which no type is called and no document says", word)
		}
	}
}

// typeNames gives for each name of a type, in lower case, the packages of the product that have one.
func typeNames(t *testing.T) map[string][]string {
	out := map[string][]string{}
	for _, f := range productFiles(t) {
		if within(f.folder, "test") {
			continue
		}
		for _, d := range f.ast.Decls {
			declaration, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range declaration.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					if name := strings.ToLower(s.Name.Name); !slices.Contains(out[name], f.folder) {
						out[name] = append(out[name], f.folder)
					}
				}
			}
		}
	}
	return out
}

// saidByDocuments reports whether the documents of the language have a word, in any number.
func saidByDocuments(t *testing.T, word string) bool {
	said := regexp.MustCompile(`(?i)\b` + word)
	return slices.ContainsFunc([]string{"docs/language.md", "docs/semantics.md", "docs/rationale.md"},
		func(page string) bool {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			return said.Match(text)
		})
}
