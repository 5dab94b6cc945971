package kernel

import "testing"

func BenchmarkOpenBTF(b *testing.B) {
	for b.Loop() {
		if _, err := OpenBTF(); err != nil {
			b.Skip(err)
		}
	}
}

func BenchmarkFirstField(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		k, err := OpenBTF()
		if err != nil {
			b.Skip(err)
		}
		id, ok := k.Named(KindStruct, "task_struct")
		if !ok {
			b.Fatal("no task_struct")
		}
		if _, err := k.Field(id, "tgid"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTmp(t *testing.T) {
	f := Open(Options{})
	for _, n := range []string{"sched_switch", "sys_enter", "sched_wakeup", "tcp_retransmit_skb", "block_rq_issue", "sched_swich"} {
		r, err := f.RawTracepoint(n)
		if err != nil {
			t.Log(err)
			continue
		}
		b, _ := f.BTF()
		for _, p := range r.Params {
			t.Log(n, p.Name, b.TypeName(p.Type))
		}
	}
	tp, err := f.Tracepoint("sched", "sched_switch")
	t.Logf("%+v %v", tp, err)
	_, err = f.Tracepoint("sched", "sched_swich")
	t.Log(err)
	l, err := f.MatchRawTracepoints("*")
	t.Log(len(l), err)
	tl, err := f.MatchTracepoints("*", "*")
	t.Log(len(tl), err)
}
