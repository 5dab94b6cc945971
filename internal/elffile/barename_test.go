package elffile

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/naming"
)

// bareNames are names as g++ 12.2 and rustc 1.95 have made them, and what is shown of them.
var bareNames = [][2]string{
	{"_ZN12_GLOBAL__N_13hidEi", "(anonymous namespace)::hid"},
	{"_ZNK12_GLOBAL__N_16Hidden3getEi", "(anonymous namespace)::Hidden::get"},
	{"_ZN4shop3ArrIiLi3EE2In4deepIdEEiT_", "shop::Arr::In::deep"},
	{"_ZN4shop3BoxISt6vectorIiSaIiEEEC1ES3_", "shop::Box::Box"},
	{"_ZN4shop3BoxISt6vectorIiSaIiEEED1Ev", "shop::Box::~Box"},
	{"_ZN4shop3BoxISt6vectorIiSaIiEEEdlEPv", "shop::Box::operator delete"},
	{"_ZN4shop3BoxISt6vectorIiSaIiEEEnwEm", "shop::Box::operator new"},
	{"_ZN4shop3BoxIiE4convIlEET_S3_RKSt6vectorIS3_SaIS3_EE", "shop::Box::conv"},
	{"_ZN4shop3BoxIiEclEi", "shop::Box::operator()"},
	{"_ZN4shop3BoxIiEixEi", "shop::Box::operator[]"},
	{"_ZN4shop3BoxIiElSEi", "shop::Box::operator<<="},
	{"_ZN4shop3BoxIiEppEv", "shop::Box::operator++"},
	{"_ZN4shop3BoxIiEptEv", "shop::Box::operator->"},
	{"_ZN4shop4callIZNS_5localEiEUlT_E0_EEiS1_", "shop::call"},
	{"_ZN4shop4callIZNS_5localEiEUliE_EEiT_", "shop::call"},
	{"_ZN4shop4flagILb1EEEiv", "shop::flag"},
	{"_ZN4shop5localEi", "shop::local"},
	{"_ZN4shop6viaptrIXadL_ZN12_GLOBAL__N_13hidEiEEEEii", "shop::viaptr"},
	{"_ZN4shopli4_strB5cxx11EPKcm", "shop::operator\"\" _str"},
	{"_ZN4shoplsIiEEbRKNS_3BoxIT_EES2_", "shop::operator<<"},
	{"_ZNK4shop3BoxIiEcvNS0_IT_EEIlEEv", "shop::Box::operator shop::Box"},
	{"_ZNK4shop3BoxIiEcvSt6vectorIiSaIiEEEv", "shop::Box::operator std::vector"},
	{"_ZNK4shop3BoxIiEcviEv", "shop::Box::operator int"},
	{"_ZNK4shop3BoxIiEeqERKS1_", "shop::Box::operator=="},
	{"_ZNK4shop3BoxIiEleERKS1_", "shop::Box::operator<="},
	{"_ZNK4shop3BoxIiEltERKS1_", "shop::Box::operator<"},
	{"_ZNK4shop3BoxIiErsEi", "shop::Box::operator>>"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
	{"_ZNKSt19__shared_ptr_accessIN4shop3BoxIiEELN9__gnu_cxx12_Lock_policyE2ELb0ELb0EEptEv",
		"std::__shared_ptr_access::operator->"},
	{"_ZNKSt17_Rb_tree_iteratorISt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vector" +
		"IiSaIiEEEEdeEv",
		"std::_Rb_tree_iterator::operator*"},
	{"_ZNSt15__allocated_ptrISaISt23_Sp_counted_ptr_inplaceIN4shop3BoxIiEESaIvELN9__gnu_cxx12_Lock_pol" +
		"icyE2EEEEaSEDn",
		"std::__allocated_ptr::operator="},
	{"_ZNSt14__shared_countILN9__gnu_cxx12_Lock_policyE2EEC1IN4shop3BoxIiEESaIvEJiEEERPT_St20_Sp_alloc" +
		"_shared_tagIT0_EDpOT1_",
		"std::__shared_count::__shared_count"},
	{"_ZNSt10shared_ptrIN4shop3BoxIiEEED2Ev", "std::shared_ptr::~shared_ptr"},
	{"_ZN9__gnu_cxxltIPiSt6vectorIiSaIiEEEEbRKNS_17__normal_iteratorIT_T0_EESA_", "__gnu_cxx::operator<"},
	{"_ZN9__gnu_cxx5__ops15_Iter_comp_iterIZ4mainEUliiE0_EclINS_17__normal_iteratorIPiSt6vectorIiSaIiE" +
		"EEESA_EEbT_T0_",
		"__gnu_cxx::__ops::_Iter_comp_iter::operator()"},
	{"_ZN9__gnu_cxx5__ops16__iter_comp_iterIZ4mainEUliiE0_EENS0_15_Iter_comp_iterIT_EES4_",
		"__gnu_cxx::__ops::__iter_comp_iter"},
	{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"},
	{"_ZZ4mainENKUliiE0_clEii", "main::{lambda(int, int)#2}::operator()"},
	{"_ZZN4shop5localEiENKUlT_E0_clIiEEDaS0_", "shop::local()::{lambda(auto:1)#2}::operator()"},
	{"_ZZN4shop5localEiENKUliE_clEi", "shop::local()::{lambda(int)#1}::operator()"},
	{"_ZZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_M_constructIPKcEEvT_S8_St20forward_iter" +
		"ator_tagEN6_GuardD2Ev",
		"std::__cxx11::basic_string::_M_construct()::_Guard::~_Guard"},
	{"_ZdlPvS_", "operator delete"},
	{"_ZnwmPv", "operator new"},
	{"_ZTv0_n24_N1W1fEv", "virtual thunk to W::f()"},
	{"_ZN2ns1fEi.cold", "ns::f"},
	{"_ZN2ns1fEi.constprop.0", "ns::f"},
	{"_Z1fi", "f"},
	{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std::operator<<"},
	{"_ZN5boost3mpl2ltIiEaaERKS2_", "boost::mpl::lt::operator&&"},
	{"_ZNSt8functionIFivEEC1IRiEEOT_", "std::function::function"},
	{"_RINvMNtNtCsgEmfK2I1SDS_4core3fmt2rtNtB3_8Argument11new_displayjECs6GmmlP4bgsG_1r",
		"core::fmt::rt::Argument::new_display"},
	{"_RINvMNtNtCsjrHSEGnQ3l9_3std6thread7builderNtB3_7Builder15spawn_uncheckedNCNvCs6GmmlP4bgsG_1r4ma" +
		"ins0_0lEB1c_",
		"std::thread::builder::Builder::spawn_unchecked"},
	{"_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc3vec3VechEECs6GmmlP4bgsG_1r",
		"core::ptr::drop_in_place"},
	{"_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace28___rust_begin_short_backtraceFEuuECs6GmmlP4bgsG_1r",
		"std::sys::backtrace::__rust_begin_short_backtrace"},
	{"_RNvYNvYeNtNtCslNYArtu3iFV_5alloc6borrow7ToOwned8to_ownedINtNtNtCsgEmfK2I1SDS_4core3ops8function" +
		"6FnOnceTReEE9call_onceCs6GmmlP4bgsG_1r",
		"<<str as alloc::borrow::ToOwned>::to_owned as core::ops::function::FnOnce>::call_once"},
	{"_RNCNCINvNtNtCsjrHSEGnQ3l9_3std6thread9lifecycle15spawn_uncheckedNCNvCs6GmmlP4bgsG_1r4mains0_0lE00B14_",
		"std::thread::lifecycle::spawn_unchecked::{closure#0}::{closure#0}"},
	{"_RNCNvCs6GmmlP4bgsG_1r4mains_0B3_", "r::main::{closure#1}"},
	{"_RNSNvYNCINvNtNtCsjrHSEGnQ3l9_3std6thread9lifecycle15spawn_uncheckedNCNvCs6GmmlP4bgsG_1r4mains0_" +
		"0lEs_0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_once6vtableB17_",
		"<std::thread::lifecycle::spawn_unchecked::{closure#1} as core::ops::function::FnOnce>" +
			"::call_once::{shim:vtable#0}"},
	{"_RNvMNtCsgEmfK2I1SDS_4core6resultINtB2_6ResultINtNtNtCsjrHSEGnQ3l9_3std6thread11join_handle10Joi" +
		"nHandlelENtNtNtBO_2io5error5ErrorE6expectCs6GmmlP4bgsG_1r",
		"core::result::Result::expect"},
	{"_RNvMNtNtCsgEmfK2I1SDS_4core4char7methodsc8to_digitCs6GmmlP4bgsG_1r", "char::to_digit"},
	{"_RINvXNtNtNtNtCsjrHSEGnQ3l9_3std3sys12thread_local6native4lazyzNtB3_14DestroyedState13register_d" +
		"torINtNtCsgEmfK2I1SDS_4core4cell4CellTyyEEECs6GmmlP4bgsG_1r",
		"<! as std::sys::thread_local::native::lazy::DestroyedState>::register_dtor"},
	{"_ZN4core3ptr46drop_in_place$LT$alloc..vec..Vec$LT$u8$GT$$GT$17h0123456789abcdefE", "core::ptr::drop_in_place"},
	{"_ZN71_$LT$core..ops..range..Range$LT$Idx$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
		"<core::ops::range::Range as core::fmt::Debug>::fmt"},
	{"_ZN4core3fmt3num3imp52_$LT$impl$u20$core..fmt..Display$u20$for$u20$i32$GT$3fmt17h0123456789abcdefE",
		"core::fmt::num::imp::<impl core::fmt::Display for i32>::fmt"},
	{"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "std::rt::lang_start::{{closure}}"},
	{"_ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE", "<&T as core::fmt::Display>::fmt"},
	{"_ZN3und3one17h0123456789abcdefE", "und::one"},
	{"_ZN3und4_one17h0123456789abcdefE", "und::_one"},
	{"_ZN3und5__one17h0123456789abcdefE", "und::__one"},
	{"_ZN4_und1_17h0123456789abcdefE.llvm.123456", "_und::_"},
	{"_ZN6_inner3two17h0000000000000001E", "_inner::two::h0000000000000001"}, // too few digits for a hash
	{"_ZN3und44_$LT$impl$u20$und.._Trait$u20$for$u20$u8$GT$4_two17h0123456789abcdefE",
		"und::<impl und::_Trait for u8>::_two"},
	{"_ZN14serve_requests4main17h0123456789abcdefE.llvm.123456", "serve_requests::main"},
	{"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$17h0123456789abcdefE",
		"core::ops::function::FnOnce::call_once{{vtable.shim}}"},
	{"_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE", "alloc::vec::Vec::push"},
	{"main", "main"},
	{"_Zbroken", "_Zbroken"},
	{"_ZN4shop17h0123456789abcdezE", "shop::h0123456789abcdez"},
}

func TestBare(t *testing.T) {
	for _, pair := range bareNames {
		if got := Bare(pair[0]); got != pair[1] {
			t.Errorf("%s: got %q, want %q", pair[0], got, pair[1])
		}
	}
}

// A name that is copied from a stack finds the function again, and so does each other form of it.
func TestMatcherTakesEachForm(t *testing.T) {
	for _, pair := range bareNames {
		for _, form := range []string{pair[0], Demangle(pair[0]), DemangleShort(pair[0]), Bare(pair[0])} {
			if naming.IsPattern(form) {
				continue // of which some signs mean something else
			}
			is, err := Matcher(form)
			if err != nil || !is(pair[0]) {
				t.Errorf("%s does not mean %s: %v", form, pair[0], err)
			}
		}
	}
}

func TestLookupByBareName(t *testing.T) {
	f := open(t, compile(t, "g++", `
		namespace shop { template <class T> struct box { __attribute__((noinline)) T get(T n) { return n + 1; } }; }
		int main(int c, char **) { return shop::box<int>().get(c) + shop::box<long>().get(c); }`), Options{})
	for name, want := range map[string]int{"shop::box::get": 2, "shop::box<int>::get": 1,
		"shop::box<int>::get(int)": 1} {
		list, err := f.Lookup(name)
		if err != nil || len(list) != want {
			t.Errorf("%s: %+v, %v, want %d", name, list, err, want)
		}
	}
	glob, err := naming.Compile("shop::*::get")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := f.Find(glob); err != nil || len(list) != 2 {
		t.Errorf("by a pattern: %+v, %v", list, err)
	}
}

// A name that no compiler writes is shown in some form, and never ends the tracer.
func FuzzBare(f *testing.F) {
	for _, pair := range bareNames {
		f.Add(pair[0])
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := Bare(name); name != "" && got == "" {
			t.Errorf("%q: %q", name, got)
		}
		if text := withoutGenerics(name); len(text) > len(name)+strings.Count(name, "<") {
			t.Errorf("%q: %q", name, text)
		}
	})
}

// Names that are not mangled lose the arguments of templates and the parameters, too, and no more.
func TestBareOfSource(t *testing.T) {
	for name, want := range map[string]string{
		"ns::(anonymous namespace)::twice<int>":                 "ns::(anonymous namespace)::twice",
		"(anonymous namespace)::box<a<b> >::get<int>":           "(anonymous namespace)::box::get",
		"ns::f(int)::{lambda(int)#1}::operator()":               "ns::f::{lambda(int)#1}::operator()",
		"ns::op<main()::<lambda(int)> >::operator()<b*, c<d> >": "ns::op::operator()",
		"std::sort<it<int*, v<int> >, main()::<lambda(int)> >":  "std::sort",
		"ns::operator<": "ns::operator<",
		"ns::st":        "ns::st",
		"_ZN2ns1fEi":    "ns::f",
	} {
		if got := BareOfSource(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
