package machine

import (
	"cmp"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/startrace/startrace/internal/point"
)

// Completion of the file in a point of a program, as in uprobe:/usr/bin/b (`programWords`).

// programWords are the folders, and the programs and libraries, whose paths begin as rest, the text behind the kind.
// typing says whether it is a path that is typed: a name without a / is one of a library, or of a function.
func programWords(word string, kind *point.Kind, rest string) (words []string, typing bool) {
	if !kind.InPrograms || !strings.Contains(rest, "/") || strings.ContainsAny(rest, ":*?[{") {
		return nil, false
	}
	folder, begin := filepath.Split(rest)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return nil, true
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begin) || begin == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if end := behindFile(folder + e.Name()); end != "" {
			words = append(words, word+":"+folder+e.Name()+end)
		}
	}
	return words, true
}

// behindFile is what follows a path in a point: / behind a folder, : behind a file with code, "" where it can be
// neither.
func behindFile(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return "/"
	case info.Mode().IsRegular() && isELF(path):
		return ":"
	}
	return ""
}

// isELF reports whether a file begins as programs and libraries do.
func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) == elf.ELFMAG
}
