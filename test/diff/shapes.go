package diff

// What only user space can do, as templates. In an expression $i is an int, $n one from 0 to 7, $p one from 1 to 8, $s
// a text, $b a bool, $f a float, $x any of them; $q a pointer, $m the bytes behind one; capitals are the same where the
// variables of a comprehension are in reach: $0 an int, $1 a text, $2 a pointer.
var userExprs = map[Kind][]string{
	Int: {
		"ord(($s + \"a\").elems()[0])", "ord($s[0:1] or \"a\")", "int(\"12\")", "int(\"-7f\", 16)", "$s.count(\"a\")",
		"$s.find($s)", "$s.rfind($s)",
		"($s + \"a\").index(\"a\")", "($s + \"a\").rindex(\"a\")", "hash($s)", "[$i, $i, 3].index(3)",
		"[$i, $i][$n % 2]", "($i, $i)[-1]",
		"len(list(range($n, $n, $p)))", "len([$i, $x])", "len({$s: $x, $i: $x})", "len(set([$s, $s]))",
		"sum([$I for $0 in range($n)])", "sum([$0 for $0 in [$i, $i] if $B])", "max([$I for $0 in ($i, $i)])",
		"min($i, $i, key = lambda $0: $I)", "max([$i, $i, $i], key = lambda $0: -$0)", "abs($i)", "sorted([$i, $i])[0]",
		"sorted([$i, $i, $i], reverse = True, key = lambda $0: $I)[-1]", "list(reversed([$i, $i]))[0]",
		"[$0 for $0, _ in enumerate([$i])][0]",
		"list(zip([$i], [$s]))[0][0]", "dict(k = $i)[\"k\"]", "dict([($s, $i)]).get($s, $i)", "{$i: $i}.get($i, 0)",
		"{True: $i, False: $i}[$b]",
		"{$s: $i for _ in range(2)}.values()[0]", "list({$i: $i}.keys())[0]",
		"(lambda *a, **k: a[0] + k[\"k\"])($i, k = $i)",
		"(lambda a, b = $i: a + b)(*[$i])", "(lambda a, b = 1: a + b)(**{\"a\": $i})", "math.floor($f)",
		"math.ceil($f)",
		"int(math.fabs($f))", "int(math.pow(2, $n))", "int($f)", "int32($i)", "uint32($i)", "ntohs($i)", "ntohl($i)",
		"list($m)[0]", "$m[-1]", "sum($m.elems())", "sum([$I + $0 for $0 in $m])", "len($m + b\"a\")", "len($m[$n:])",
		"list(bytes($s)[0:1].elems())[0] if $s else 0", "len(bytes([$n, $n]))", "len(b\"a\\xff\" + bytes($s))",
		"json.decode(json.encode([$i]))[0]",
		"sum([$I for $2 in ($q, $q)])", "len([$S for $2 in [$q, $q] if $B])",
		"{$1: $I for $1, $2 in ((\"a\", $q), (\"b\", $q))}[\"b\"]",
		"[a + b for a in [$i, $i] for b in ($i,)][1]", "($i << 70) >> 65", "$i + 36893488147419103232",
		"$i * 18446744073709551616",
		"$i & 36893488147419103231", "$i | -18446744073709551617", "$i ^ 18446744073709551616",
		"-18446744073709551617 // $p",
		"len([None] * $n)", "[$2 for $2 in [1]][0]", "duration(\"5ms\") + $i", "(1 if $i in [$i, $i] else 2)",
		"len(type($x))",
		"{$f: $i, $i: 2}.get($f)", "len(set([$f, $i, $f]))", "len({$f: 1, $f: 2, $i: 3})", "[$f, $i, $f].index($f)",
		"sorted([$i, 3, $i], key = lambda $0: $0 + $f)[0]", "len([$0 for $0 in ($f, $f) if $0 == $f])",
		"(lambda $2, *, k: $I + k)($q, k = $i)", "(lambda $2, **k: $I + k[\"z\"])($q, z = $i)",
		"(lambda $2, $0: $I)(*($q, $i))", "(lambda $2, $0 = 1: $I)(**{\"$2\": $q})", "(lambda $2, $0 = $i: $I)($q)",
		"[lambda $2: $I][0]($q)", "{\"a\": lambda $2: $I}[\"a\"]($q)", "(lambda f, p: f(p))(lambda $2: $I, $q)",
		"((lambda $2: $I) if $b else (lambda $2: $I))($q)", "[f($q) for f in [lambda $2: $I, lambda $2: $I]][$n % 2]",
		"(lambda $0: lambda $2: $I)($i)($q)",
		"len($s.splitlines())", "len($s.split())", "len(list($s.elem_ords()))", "len(list($s.codepoint_ords()))",
	},
	Str: {
		"$s.upper()", "$s.lower()", "$s.title()", "$s.capitalize()", "$s.strip()", "$s.lstrip(\"a/\")",
		"$s.rstrip(\"b\")",
		"$s.removeprefix(\"a\")", "$s.removesuffix(\"b\")", "$s.replace(\"a\", $s)", "$s.replace($s, \"-\", 1)",
		"$s + $s", "$s * $n",
		"(\"%s|%d|%r\" % ($s, $i, $s))", "(\"%x %o %X\" % ($n, $n, $n))", "(\"%s\" % $s)", "(\"%c%%\" % ($n + 65))",
		"(\"%e|%g\" % ($f, $f))",
		"\"{}-{x}\".format($s, x = $i)", "$s[$n:]", "$s[:$n]", "$s[-3:]", "$s[0:5:2]", "$s[::-1]", "$s[$n:$n]",
		"\",\".join([str($0) for $0 in ($i, $i)])", "\",\".join(sorted([$s, $s]))",
		"\"-\".join([$S for $1 in ($s, $s) if $B])",
		"str($x)", "repr($x)", "type($x)", "chr($n + 97)", "$s.partition(\"/\")[0]", "$s.rpartition(\"/\")[2]",
		"($s or \"x/y\").split(\"/\")[0]",
		"$s.rsplit(\"/\", 1)[-1]", "\" \".join($s.splitlines())", "\"\".join($s.elems())",
		"\"\".join(list($s.codepoints())[:3])",
		"[$s, $s][$n % 2]", "($s, $i)[0]", "{$i: $s}.get($i, \"none\")", "{\"k\": $s}.pop(\"k\")",
		"[$S for $0 in range(2)][1]", "str([$x, ($x,), {$s: $x}])",
		"sprintf(\"%s %d %q\", $s, $i, $s)", "sprintf(\"%5.2f %#x %-4d|\", $f, $n, $n)",
		"json.encode([$i, {$s.upper(): $b}, None])",
		"errno(-$n)", "signal($n)", "syscall_name($n)", "inet($n)", "names($n, \"O_\")", "strftime(\"%Y\", 0)",
		"dev_name($n)", "ksym($i & 65535)", "mac(bytes([$n, 1, 2, 3, 4, 255]))", "str(bytes($s)[:2])", "max($s, $s)",
		"min([$s, $s])", "reversed([$s, $s])[0]", "str(record(a = $x, b = $s))",
		"record(a = $s).a", "getattr(record(a = $s), \"a\", \"none\")", "str(set([$i, $i]))",
		"str({$0: $I for $0 in range(2)})",
		"str([$1 for $1 in {$s: $i}])", "str(range($n, 9))", "str(dir(\"\")[0])", "str(tuple([$i, $i]))",
		"str(list(($i, $s)))", "str([$f, ($f, $i), {$f: $f}])", "(\"%s %g %f %e\" % ($f, $f, $f, $f))",
		"sprintf(\"%g|%.3f|%10.2e|%s\", $f, $f, $f, $f)", "str(record(a = $f))", "str(sorted([$f, $f, $i]))",
		"str((min($f, $f), max($f, $i)))",
	},
	Bool: {
		"any([$b, $b])", "all([$b, $b])", "any([$B for $0 in ($i, $i)])", "all([$B for $1 in ($s, $s)])",
		"$s.isdigit()", "$s.isalpha()",
		"$s.isalnum()", "$s.islower()", "$s.isupper()", "$s.isspace()", "$s.istitle()", "($s in $s)", "($n in $m)",
		"($m < $m)", "(b\"\\xff\" in $m)", "($s not in $s)", "($i in [$i, $i])", "($s in {$s: 1})",
		"($i not in set([$i, $i]))", "({$s: $i} == {$s: $i})", "([$i, $s] == [$i, $s])", "([$i] < [$i, $i])",
		"(($s, $i) >= ($s, $i))",
		"bool([$x])", "bool({})", "hasattr(record(a = $x), \"a\")", "hasattr($s, \"upper\")",
		"$s.startswith((\"a\", $s))", "$s.endswith((\"b\", \"\"))",
		"($f < $f)", "($i == $f)", "(set([$i]) == set([$i]))", "($i in range($n))",
		"(set([$i]) | set([$i]) == set([$i, $i]))",
		"(len(set([$i, 1]) & set([$i, 1])) > 0)", "(len(set([$i]) - set([$i])) == 0)", "set([$i]).issubset([$i, $i])",
		"set([$i]).issuperset(set([$i]))", "(set([$i]).difference([$i]) == set())",
		"(len(set([$i]).symmetric_difference([$i])) > 0)", "(len(set([$i]) ^ set([$i])) == 0)",
		"(len({\"a\": $i} | {\"b\": $i}) == 2)", "(bytes($s) == b\"ab\")", "(b\"a\" in bytes($s))",
		"matches($s, \"a*\")", "(not $x)", "($f in [$f, $i])", "($f in {$f: 1, $i: 2})", "($i in set([$f, $i]))",
		"(($f, $i) < ($i, $f))", "([$f, $i] == [$i, $f])", "(not $f)", "({$f: $f} == {$f: $f})", "($f == None)",
		"(record(a = $f) == record(a = $f))",
	},
	Float: {
		"float($i & 65535)", "float(\"1.5\")", "math.sqrt(abs($f))", "math.log(abs($f) + 1)", "math.exp(min($f, 1.0))",
		"math.pi", "math.sin($f)", "($f if $b else 0.5)", "[$f, 1.0][0]", "($n / $p)", "($f // $p)", "($f % $p)",
		"(-$f)", "(+$f)",
		"max($f, 1.5)", "math.mod($f, 3.0)", "math.copysign($f, -1)", "math.hypot($f, $f)", "math.degrees($f)",
		"math.radians($f)",
	},
}

// userStmts are statements; $0 and what follows are new names, of which the last is a variable of the type from there
// on.
var userStmts = map[Kind][]string{
	Int: {
		"$0 = $i\n$0 += $i\n$0 -= $i\n$0 *= $n\n$0 //= $p\n$0 %= $p\n$0 &= $i\n$0 |= $i\n$0 ^= $i\n$0 <<= $n\n" +
			"$0 >>= $n\n$1 = $0",
		"$0 = [$i, $i]\n$0.append($i)\n$0.extend([$i])\n$0.insert($n, $i)\n$0 += [$i]\n$0[0] = $i\n$0[1] += $i\n" +
			"$1 = $0.pop($n % 4) + $0.pop()",
		"$0 = [$i, $i, $i]\n$0.remove($0[$n % 3])\n$0 *= 2\n$1 = len($0)\n$0.clear()",
		"$0 = {}\n$0[$s] = $i\n$0[$s] = $i\n$0.setdefault($s, $i)\n$0.update([($s, $i)])\n$0.update(k = $i)\n" +
			"$0[\"k\"] += $i\n$1 = sum($0.values()) + len($0.keys())",
		"$0 = {$s: $i, \"x\": $i}\n$0.pop(\"x\", None)\n$0 |= {$s: $i}\n$0[\"y\"] = $0.popitem()[1]\n$1 = $0[\"y\"]\n" +
			"$0.clear()",
		"$0 = set([$i])\n$0.add($i)\n$0.discard($i)\n$0 |= set([$i])\n$0.remove(list($0)[0])\n$0.update([$i])\n" +
			"$1 = len($0.union([$i])) + len($0.intersection([$i]))",
		"def $0(*args, **kwargs):\n    return len(args) + kwargs.get(\"k\", 0) + sum([x for x in args if type(x) == " +
			"\"int\"])\n$1 = $0($x, $i, k = $i)",
		"def $0(x, *, k = 3):\n    return x + k\n$1 = $0($i) + $0($i, k = $i) + $0(k = $i, x = $i)",
		"$0 = 0\nfor $1 in [$i, $i, $i]:\n    if $1 == $i:\n        continue\n    $0 += $1\n$2 = $0",
		"$0 = 0\nfor $1 in {$s: $i}.items():\n    $0 += len($1)\n$2 = $0",
		"($0, [$1, $2]) = ($i, [$i, $i])\n$3 = $0 + $1 - $2",
		"$0, $1 = {$s: 1, $s + \"-\": 2}.keys()\n$2 = len($0) + len($1)",
		"def $0(n):\n    def inner(m):\n        return n + m + $i\n    return inner\n$1 = $0($i)($i)",
		"$0 = [lambda x: x + 1, lambda x: x * $i]\n$1 = $0[$n % 2]($i)",
		"$0 = 0\nfor $1 in range($n):\n    for $2 in ($i, $i):\n        if $b:\n            break\n" +
			"        $0 += $1 * $2\n$3 = $0",
	},
	Str: {
		"$0 = $s\n$0 += $s\n$1 = $0",
		"$0 = []\nfor $1 in $s.elems():\n    $0.append($1)\n$2 = \"\".join($0)",
		"$0 = {\"k\": [$s]}\n$0[\"k\"].append($s)\n$0[\"k\"][0] += \"+\"\n$1 = \"|\".join($0[\"k\"])",
		"def $0(a, b = \"-\", *rest):\n    return a + b + \"\".join([str(x) for x in rest])\n" +
			"$1 = $0($s) + $0($s, $s, $i, $x)",
		"$0 = lambda **k: str(k)\n$1 = $0(a = $x, b = $s)",
		"$0 = \"\"\nfor $1, $2 in zip([$i, $i], [$s, $s]):\n    $0 += \"%d%s\" % ($1, $2)\n$3 = $0",
	},
	Float: {
		"$0 = $f\n$0 += $i & 255\n$0 -= $f\n$0 *= 2\n$0 /= $p\n$0 //= $p\n$0 %= $p\n$1 = $0",
	},
}
