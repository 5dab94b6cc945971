// Package dwarfinfo reads debug information (DWARF 2 to 5) of large files without reading them whole.
//
// A file of 180 MB of debug information has some hundred units, each the information of one source file. A question
// about one function needs one of them: its unit is found by a table of addresses (.debug_aranges), or by the first
// entry of each unit, and only that unit is read. In a unit the reader steps over what nobody asks for: an entry's size
// follows from its abbreviation, and a type with all its members from DW_AT_sibling. Package debug/dwarf reads and
// decodes all sections and all entries on the way, which takes seconds and some 600 MB for such a file
// (docs/rationale.md).
//
// The names of tags, attributes and offsets are those of debug/dwarf. Numbers of sections in comments are those of the
// standard, version 5.
//
// Files are foreign data. Whatever they hold, methods give an error of the kind ErrDamaged or nothing, never a panic,
// and read no more than the sections have.
package dwarfinfo
