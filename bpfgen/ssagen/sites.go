package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Counting of losses and errors at places of the script: `countSite`, `errorSite`.
//
// Programs count at sites: the places in the script where something ends a handler or is lost.

// errorSite counts that the handler ends here, and ends the program. what says why, for the last line of the run.
func (b *code) errorSite(what string) {
	b.countSite(tree.Site{Kind: tree.SiteError, What: what, Probe: b.prog.Probe, Container: -1, Pos: b.Pos})
	b.ret()
}

// countSite counts one thing at a site, and goes on.
func (b *code) countSite(s tree.Site) {
	b.Uses[tree.MapSites] = true
	b.OpImm(ir.OpCountSite, int64(b.Site(s)))
}

// countSiteBy counts n things at once.
func (b *code) countSiteBy(s tree.Site, n *ir.Value) {
	b.Uses[tree.MapSites] = true
	b.Op(ir.OpAtomicAdd64, b.MapValue(tree.MapSites, 8*int64(b.Site(s))), n)
}

// countHere counts what the probe loses at this place.
func (b *code) countHere(kind tree.SiteKind) {
	b.countSite(tree.Site{Kind: kind, Probe: b.prog.Probe, Container: -1, Pos: b.Pos})
}

// countSpan counts a start or an end of the program's span.
func (b *code) countSpan(kind tree.SiteKind) {
	span, _ := b.span()
	b.countSite(tree.Site{Kind: kind, Probe: b.prog.Probe, Container: -1, Span: span, Pos: b.Pos})
}

// left is where calls of a span are counted that are left by other ways than a return.
func left(span *tree.Span, kind tree.SiteKind) tree.Site {
	return tree.Site{Kind: kind, Probe: span.Probe, Container: -1, Span: span, Pos: span.Pos}
}
