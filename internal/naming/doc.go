// Package naming is about names as people type them: patterns that mean several of them (Glob), and the name that was
// probably meant where there is none of that spelling (Suggest).
//
//	open{,at,at2}   three names: open, openat, openat2
//	vfs_[rw]*       all that begin with vfs_r or vfs_w
//	opnat           no name of the kernel's; Suggest gives openat
//
// All names are patterns of the same form: points, functions, files, fields, flags. Bytes are compared, not runes. The
// package knows nothing of what is named, and keeps nothing. Patterns can come from anybody: what braces multiply to is
// bounded, and a bad pattern is an error with its text.
package naming
