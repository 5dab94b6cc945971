package main

import (
	"fmt"
	"slices"
	"strings"
)

// The table of the kernels of guests, a row for each version.

// kernel is one kernel of the support table and where Debian has it.
type kernel struct {
	version  string // as the user names it: "6.12", "6.12-arm64"
	arch     arch
	suites   []string // of Debian, those that may hold it
	packages []string // regular expressions for apt-cache, all of the same release; %s is the release
}

// image is the pattern of a package that holds vmlinuz and modules; since 7.2 they are split in two.
const image = "linux-image-%s-cloud-amd64"

// The oldest kernel to support, the stable ones of Debian, a current backport and the newest; and one of the other
// architecture.
var kernels = []kernel{
	{"5.10", amd64, []string{"bullseye", "bullseye-security"}, []string{image + "-unsigned"}},
	{"6.1", amd64, []string{"bookworm", "bookworm-security"}, []string{image + "-unsigned"}},
	{"6.12", amd64, []string{"trixie", "trixie-security"}, []string{image + "-unsigned"}},
	{"6.18", amd64, []string{"trixie-backports"}, []string{image}},
	{"7.2", amd64, []string{"sid"}, []string{"linux-binary-%s-cloud-amd64", "linux-modules-%s-cloud-amd64"}},
	{"6.12-arm64", arm64, []string{"trixie", "trixie-security"}, []string{"linux-image-%s-cloud-arm64-unsigned"}},
}

// choose returns the kernels of a comma-separated list of versions; "all" is all of amd64.
func choose(list string) ([]kernel, error) {
	if list == "all" {
		return slices.DeleteFunc(slices.Clone(kernels), func(k kernel) bool { return k.arch.name != amd64.name }), nil
	}
	var chosen []kernel
	for version := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(kernels, func(k kernel) bool { return k.version == version })
		if i < 0 {
			return nil, fmt.Errorf("no kernel %q: there are %s", version, strings.Join(versions(), ", "))
		}
		chosen = append(chosen, kernels[i])
	}
	return chosen, nil
}

func versions() []string {
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.version
	}
	return names
}

// suites returns every suite that some kernel of an architecture comes from, once.
func suites(of arch) []string {
	var all []string
	for _, k := range kernels {
		if k.arch.name == of.name {
			all = append(all, k.suites...)
		}
	}
	return all
}
