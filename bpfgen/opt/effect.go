package opt

import "github.com/startrace/startrace/bpfgen/ir"

// Which helpers of the kernel only give a value (`pureHelpers`), or always the same one in a run (`steadyHelpers`).

// steadyHelpers give the same whenever one run of a program calls them. By
// number, from include/uapi/linux/bpf.h: get_smp_processor_id (programs do
// not migrate), get_current_pid_tgid, get_current_uid_gid, get_current_task,
// get_numa_node_id, get_current_cgroup_id, get_current_task_btf,
// get_func_ip, get_attach_cookie.
var steadyHelpers = map[int64]bool{8: true, 14: true, 15: true, 35: true, 42: true, 80: true, 158: true, 173: true,
	174: true}

// pureHelpers only give a value: a call whose result is not used may go.
// ktime_get_ns, get_prandom_u32, ktime_get_boot_ns, ktime_get_coarse_ns.
var pureHelpers = map[int64]bool{5: true, 7: true, 125: true, 160: true}

// hasEffect reports whether v must stay though nothing uses it.
func hasEffect(v *ir.Value) bool {
	if v.Op == ir.OpCall {
		return !pureHelpers[v.Imm] && !isSteady(v)
	}
	return v.Op.HasEffect()
}

// isSteady reports whether v is a call that may be replaced by the result of
// an equal one before it.
func isSteady(v *ir.Value) bool {
	if v.Op != ir.OpCall || !steadyHelpers[v.Imm] {
		return false
	}
	for _, a := range v.Args {
		if a.Op != ir.OpCtx {
			return false
		}
	}
	return true
}
