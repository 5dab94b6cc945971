package plan

import (
	"testing"

	"go.starlark.net/syntax"
)

func TestContainerKinds(t *testing.T) {
	for k := Table; k <= Group; k++ {
		name := k.String()
		added := name != "table" && name != "cell" && name != "group"
		if k.IsAggregation() != added {
			t.Errorf("%s: aggregation %v, want %v", name, k.IsAggregation(), added)
		}
		buckets := name == "hist" || name == "lhist" || name == "quantiles"
		if k.HasBuckets() != buckets {
			t.Errorf("%s: buckets %v, want %v", name, k.HasBuckets(), buckets)
		}
	}
	if n := len(kindNames); n != int(Group)+1 {
		t.Errorf("%d names for %d kinds", n, Group+1)
	}
}

func TestContainerInMessages(t *testing.T) {
	member := &Container{Kind: Hist, Name: "sizes", Group: "stats"}
	for _, c := range []struct{ got, want string }{
		{(&Container{Name: "n"}).Title(), "n"},
		{(&Container{Kind: LHist}).Title(), "a lhist"},
		{(&Container{Name: "n"}).Alone(), ""},
		{member.Alone(), "the hist is the member sizes of stats, which holds its values: " +
			"write stats.sizes or stats[…].sizes"},
		{(&Container{Kind: Count, By: []string{"pid"}}).WithoutKey(),
			"count x is used without a key here, and by= names the columns of one: pid; write x[…]"},
		{(&Container{Kind: Count, Name: "n", By: []string{"pid", "fd"}}).WithoutKey(),
			"count n is used without a key here, and by= names the columns of one: pid, fd; write n[…, …]"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func TestEntries(t *testing.T) {
	if got := (&Container{}).Entries(); got != DefaultSize {
		t.Errorf("without a size: %d, want %d", got, DefaultSize)
	}
	if got := (&Container{Size: 3}).Entries(); got != 3 {
		t.Errorf("with a size of 3: %d", got)
	}
}

func TestTarget(t *testing.T) {
	user := uint32(0) // root is a user like any
	for _, c := range []struct {
		what             string
		of               Target
		several, passing bool
	}{
		{"everything", Target{Self: 9}, false, false},
		{"one process", Target{PID: 1}, false, false},
		{"a process and its children", Target{PID: 1, Follow: true}, true, false},
		{"two processes", Target{PID: 1, Also: []int{2}}, true, false},
		{"children of none", Target{Follow: true}, false, false},
		{"a cgroup", Target{Cgroup: Cgroup{ID: 1}}, false, true},
		{"a user", Target{User: &user}, false, true},
	} {
		if got := c.of.Several(); got != c.several {
			t.Errorf("%s: several %v, want %v", c.what, got, c.several)
		}
		if got := c.of.Passing(); got != c.passing {
			t.Errorf("%s: passing %v, want %v", c.what, got, c.passing)
		}
	}
}

func TestProbeName(t *testing.T) {
	// At the prompt, a plan has the probes of one input, and their IDs go on from those before.
	p := &Plan{Probes: []*Probe{{ID: 4, Name: "four"}, {ID: 5, Name: "five"}}}
	for id, want := range map[int]string{4: "four", 5: "five", 0: "the script"} {
		if got := p.ProbeName(id); got != want {
			t.Errorf("probe %d: got %s, want %s", id, got, want)
		}
	}
}

func TestParamNames(t *testing.T) {
	expr, err := (&syntax.FileOptions{}).ParseExpr("t.star", "lambda e, limit = 3: e", 0)
	if err != nil {
		t.Fatal(err)
	}
	lambda := expr.(*syntax.LambdaExpr)
	for _, f := range []*Func{{Lambda: lambda}, {Def: &syntax.DefStmt{Params: lambda.Params}}} {
		if got := f.ParamNames(); len(got) != 2 || got[0] != "e" || got[1] != "limit" {
			t.Errorf("got %q", got)
		}
	}
}

func TestHalvesShareNested(t *testing.T) {
	h := NewUserHalf(&Func{Name: "f"})
	part := h.Part()
	node := &syntax.LambdaExpr{}
	part.Nested[node] = true
	part.Slots[&syntax.Ident{}] = 0
	if !h.Nested[node] {
		t.Error("a half does not know the functions in its parts that outlive the callback")
	}
	if len(h.Slots) != 0 || part.Fn != h.Fn {
		t.Error("a part is not an empty half of the same function")
	}
}

func TestParts(t *testing.T) {
	h := NewUserHalf(&Func{})
	want := map[*UserHalf]string{}
	part := func(what string) *UserHalf {
		p := h.Part()
		want[p] = what
		return p
	}
	h.Calls[&syntax.CallExpr{}] = part("a callee")
	h.Rounds[&syntax.ForStmt{}] = []*UserHalf{part("the first round"), part("the second round")}
	named := &Copy{Name: "f$1", Half: part("a named copy")}
	h.Copies[&syntax.DefStmt{}] = []*Copy{named}
	h.To[&syntax.CallExpr{}] = named // which is there once
	h.To[&syntax.CallExpr{}] = &Copy{Half: part("a lambda called where it stands")}
	for _, p := range h.Parts() {
		if want[p] == "" {
			t.Error("a part that is none, or is there twice")
		}
		delete(want, p)
	}
	for _, missing := range want {
		t.Errorf("%s is missing", missing)
	}
}
