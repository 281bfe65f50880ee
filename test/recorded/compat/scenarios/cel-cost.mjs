// CEL: cost limits, estimated when a definition is written and counted when an object is.
import { POST, PATCH } from '../steps.ts';
import { crd, crdPath, at, widget, object, string, integer, number, boolean, list, map, tryCrd, withCrd, causeLines, rules, version } from './kit/crd.mjs';

const section = '2.11';
const on = (id, about, spec, more = {}) => tryCrd(`cel-cost-${id}`, { section, about }, crd({ spec, ...more }), { pick: (b) => (b?.details?.causes ? causeLines(b) : b?.spec ? 'accepted' : b) });
const s = (n) => string(n ? { maxLength: n } : {});
const l = (items, n, more = {}) => list(items, { ...(n ? { maxItems: n } : {}), ...more });
const withRule = (fields, ...r) => object(fields, rules(...r));

const estimates = [
  on('string-unbounded', 'a cheap rule on a string without limit', withRule({ v: s() }, 'self.v == "x"')),
  on('string-contains', 'contains on strings without limit', withRule({ v: s(), w: s() }, 'self.v.contains(self.w)')),
  on('string-matches', 'matches on a string without limit', withRule({ v: s() }, 'self.v.matches("^(a|b)+$")')),
  on('string-matches-pattern', 'matches with a pattern from a field', withRule({ v: s(), w: s() }, 'self.v.matches(self.w)')),
  on('string-concat', 'concatenation of strings without limit', withRule({ v: s(), w: s() }, '(self.v + self.w + self.v).size() > 5')),
  on('list-all', 'all over a list without limit', withRule({ v: l(s()) }, 'self.v.all(x, x.size() > 0)')),
  on('list-all-strings', 'all over a list without limit, comparing strings', withRule({ v: l(s()) }, 'self.v.all(x, x == "some text that is longer")')),
  on('list-nested', 'nested loops over a list without limit', withRule({ v: l(s()) }, 'self.v.all(x, self.v.exists_one(y, x == y))')),
  ...[5, 50, 100, 200, 500, 1000, 5000].map((n) => on(`list-nested-${n}`, `nested loops over a list of at most ${n}`, withRule({ v: l(s(20), n) }, 'self.v.all(x, self.v.exists_one(y, x == y))'))),
  ...[10, 100, 300, 1000].map((n) => on(`list-triple-${n}`, `three nested loops over a list of at most ${n}`, withRule({ v: l(integer(), n) }, 'self.v.all(x, self.v.all(y, self.v.all(z, x + y > z)))'))),
  on('map-all', 'all over a map without limit', withRule({ v: map(s()) }, 'self.v.all(k, self.v[k].size() > 0)')),
  on('map-all-bounded', 'all over a map of at most 100', withRule({ v: map(s(10), { maxProperties: 100 }) }, 'self.v.all(k, self.v[k].size() > 0)')),
  on('in-items', 'a rule in items of a list without limit counts once per item', object({ v: l(object({ a: s(10) }, rules('self.a.contains("x")'))) })),
  on('in-items-matches', 'an expensive rule in items of a list without limit', object({ v: l(object({ a: s() }, rules('self.a.matches("a*b")'))) })),
  on('in-items-bounded', 'the same with limits', object({ v: l(object({ a: s(10) }, rules('self.a.matches("a*b")')), 100) })),
  on('in-nested-items', 'a rule in items of nested lists without limit', object({ v: l(l(object({ a: s(10) }, rules('self.a == "x"')))) })),
  on('in-nested-items-bounded', 'a rule in items of nested lists with limits', object({ v: l(l(object({ a: s(10) }, rules('self.a == "x"')), 10), 10) })),
  on('in-map-values', 'a rule in values of a map without limit', object({ v: map(s(10, rules('self.startsWith("a")'))) })),
  on('factor-small', 'a factor below 1.5 is printed in full', withRule({ v: l(integer(), 1500) }, 'self.v.all(x, self.v.all(y, x == y))')),
  tryCrd('cel-cost-total', { section, about: 'many rules below the limit each, above it together' }, crd({ spec: object(Object.fromEntries([...Array(15)].map((_, i) => [`f${i}`, l(integer(), 1350, rules('self.all(x, self.all(y, x == y))'))]))) }), { pick: (b) => (b?.details?.causes ? causeLines(b).filter((c) => !c.includes('contributed')) : b) }),
  on('total-few', 'the most expensive rules are named', object(Object.fromEntries([...Array(13)].map((_, i) => [`f${i}`, l(integer(), 1380 + i, rules('self.all(x, self.all(y, x == y))', 'self.size() > 0'))])), {})),
  on('quantity-not-equal', 'inequality of library types costs more than equality', withRule({ v: s(5) }, 'quantity(self.v) != quantity("1")')),
  on('quantity-equal', 'equality of library types', withRule({ v: s(5) }, 'quantity(self.v) == quantity("1")')),
  on('optional-equal', 'equality of optional values', withRule({ v: s(5) }, 'optional.of(self.v) == optional.of("x")')),
  on('literal-list-min', 'min of a literal list of strings', withRule({ v: s(5) }, '["b", "a"].min() == self.v')),
  on('string-of-duration', 'text made from a duration has no known length', withRule({ v: s(5) }, 'string(duration("1m")) + self.v == "x"')),
  on('join', 'join of literal strings', withRule({ v: s(5) }, '["a", "b"].join("-") == self.v')),
  on('split-join', 'split and join with limits', withRule({ v: s(20) }, 'self.v.split(",").all(x, x.trim() != "")')),
  on('replace', 'replace multiplies lengths', withRule({ v: s(1000), w: s(1000) }, 'self.v.replace("a", self.w).size() > 0')),
  on('sets', 'sets of lists without limit', withRule({ v: l(s()), w: l(s()) }, 'sets.contains(self.v, self.w)')),
  on('sets-bounded', 'sets of lists with limits', withRule({ v: l(s(10), 50), w: l(s(10), 50) }, 'sets.contains(self.v, self.w)')),
  on('is-sorted', 'isSorted of a list of strings without limit', withRule({ v: l(s()) }, 'self.v.isSorted()')),
  on('equality-lists', 'equality of lists without limit', withRule({ v: l(s()), w: l(s()) }, 'self.v == self.w')),
  on('equality-objects', 'equality of objects with lists', withRule({ v: object({ a: l(s()) }), w: object({ a: l(s()) }) }, 'self.v == self.w')),
  on('enum-bounds', 'an enum bounds the length of a string', withRule({ v: l(string({ enum: ['a', 'bb'] }), 200) }, 'self.v.all(x, self.v.exists(y, x.contains(y)))')),
  on('format-bounds', 'a format bounds the length of a string', withRule({ v: l(string({ format: 'date' }), 200), d: l(string({ format: 'duration' }), 200) }, 'self.v.all(x, self.v.exists(y, x == y))', 'self.d.all(x, self.d.exists(y, x == y))')),
  on('int-or-string', 'int-or-string has a known size', withRule({ v: l({ 'x-kubernetes-int-or-string': true }, 100) }, 'self.v.all(x, self.v.exists(y, x == y))')),
  on('message-expression', 'an expensive messageExpression', withRule({ v: l(s()) }, { rule: 'self.v.size() > 0', messageExpression: '"bad: " + self.v.map(x, x + "!").join(",")' })),
  on('transition', 'rules with oldSelf', withRule({ v: l(s()) }, 'self.v.all(x, x in oldSelf.v)')),
  on('two-variables', 'macros with two variables', withRule({ v: map(s()) }, 'self.v.all(k, v, k != v)', 'self.v.transformMap(k, v, v + k).size() > 0')),
  on('authz-limits', 'limits of maxLength are taken from the schema at every level', withRule({ v: l(object({ a: l(s(5), 10) }), 10) }, 'self.v.all(x, x.a.all(y, x.a.exists_one(z, y == z)))')),
  tryCrd('cel-cost-per-version', { section, about: 'the total counts for each version by itself' }, crd({ versions: ['v1', 'v2'].map((v, i) => version(v, { storage: i === 0, spec: object(Object.fromEntries([...Array(7 + i)].map((_, j) => [`f${j}`, l(integer(), 1350, rules('self.all(x, self.all(y, x == y))'))]))) })) }), { pick: (b) => (b?.details?.causes ? causeLines(b) : 'accepted') }),
];

/** Rules on items of a list that may have N of them cost N times as much: the factor in the error tells the cost of one. */
const fields = { s: s(20), t: s(100), u: s(), e: string({ enum: ['a', 'bbb'] }), i: integer(), n: number(), b: boolean(), l: l(integer(), 5), ls: l(s(10), 5), lu: l(s()), lo: l(object({ k: s(10), v: integer() }), 5), m: map(integer(), { maxProperties: 5 }), ms: map(s(10), { maxProperties: 5 }), o: object({ p: s(10), q: object({ r: integer() }) }), ts: string({ format: 'date-time' }), da: string({ format: 'date' }), du: string({ format: 'duration' }), by: string({ format: 'byte', maxLength: 20 }), is: { 'x-kubernetes-int-or-string': true }, nul: string({ nullable: true, maxLength: 10 }) };
const table = (id, about, ...expressions) => [1e7, 1e6, ...(id === 'libraries' ? [1e4] : [])].map((n) => tryCrd(`cel-cost-of-${id}-${n.toExponential().replace('+', '')}`, { section, about: `${about}: cost times ${n} against the limit` }, crd({ spec: object({ v: l(object(fields, rules(...expressions)), n) }) }), {
  pick: (b) => (b?.details?.causes ? Object.fromEntries(expressions.map((e, i) => { const own = b.details.causes.filter((c) => c.field.endsWith(`x-kubernetes-validations[${i}].rule`)); const cost = own.find((c) => c.message.includes('estimated rule cost exceeds')); return [e, cost?.message.match(/by factor of (.*?) \(/)?.[1] ?? own.find((c) => !c.message.includes('contributed'))?.message.replace(/^Invalid value: apiextensions\.ValidationRule\{.*?\}: /s, '') ?? 'within']; })) : b?.spec ? 'all within' : b),
}));
const tables = [
  ...table('operators', 'operators and selection', 'true', 'self.b', '!self.b', 'self.b && self.b', 'self.b || self.b', 'self.b ? self.b : true', 'self.i == 1', 'self.i + 1 == 2', 'self.i * 2 > 3', 'self.n / 2.0 > 3.0', '-self.i < 1', 'self.i % 2 == 0', 'has(self.s)', 'has(self.o.q.r)', 'self.o.q.r == 1', 'self.l[0] == 1', 'self.m["a"] == 1', 'self.m.a == 1', '"a" in self.m', '1 in self.l', '"x" in self.ls', 'self.s == "x"', 'self.s == self.t', 'self.t == self.u', 'self.u == "x"', 'self.s != self.t', 'self.s < self.t', 'self.l == self.l', 'self.ls == self.ls', 'self.m == self.m', 'self.o == self.o', 'self.ts == self.da', 'self.ts < self.da', 'self.du > duration("1h")', 'self.is == 5', 'self.is == "x"', 'self.by == b"x"', 'type(self.i) == int', 'dyn(self.i) == 1', 'self.i in [1, 2, 3]', 'self.s in ["a", "b", "c"]', '{"a": 1}["a"] == 1', '[1, 2, 3].size() == 3', 'self.l + self.l == self.l', 'size(self.l) > 1', 'self.l.size() > 1', 'self.m.size() > 1', 'self == self', 'self.e == "a"', 'self.nul == "a"', 'self.ls[0] == self.ls[1]'),
  ...table('conversions', 'conversions and times', 'string(self.i) == "1"', 'int(self.s) == 1', 'double(self.s) == 1.0', 'string(self.b) == "x"', 'bytes(self.s) == b"x"', 'string(self.by) == "x"', 'timestamp(self.s) == self.ts', 'duration(self.s) == self.du', 'self.ts.getFullYear() == 2020', 'self.ts.getHours("UTC") == 1', 'self.du.getSeconds() == 1', 'self.ts + self.du > self.ts', 'uint(self.i) == 1u', 'bool(self.s)', 'string(self.ts) == "x"', 'string(self.is) == "x"', 'int(self.ts) == 1', 'size(self.by) == 1'),
  ...table('strings', 'functions of strings', 'self.s.size() == 1', 'size(self.u) == 1', 'self.s.startsWith("a")', 'self.s.startsWith(self.t)', 'self.s.endsWith("a")', 'self.s.contains("a")', 'self.t.contains(self.s)', 'self.s.matches("a")', 'self.s.matches("^[a-z]+$")', 'self.t.matches("^[a-z]{1,20}(foo|bar)+$")', 'self.s + self.t == "x"', 'self.s.charAt(1) == "x"', 'self.s.indexOf("x") == 1', 'self.t.indexOf(self.s) == 1', 'self.s.lastIndexOf("x") == 1', 'self.s.lowerAscii() == "x"', 'self.t.upperAscii() == "x"', 'self.s.replace("a", "b") == "x"', 'self.s.replace(self.t, self.t) == "x"', 'self.s.split(",") == []', 'self.s.split(",").size() == 1', 'self.s.split(self.t).size() == 1', 'self.ls.join() == "x"', 'self.ls.join(",") == "x"', 'self.s.substring(1) == "x"', 'self.s.substring(1, 2) == "x"', 'self.s.trim() == "x"', 'strings.quote(self.s) == "x"', '"%s".format([self.s]) == "x"', 'self.s.find("a+") == "x"', 'self.s.findAll("a+") == []', 'self.s.findAll("a+", 2) == []', 'self.s.findAll("a+").size() == 1', 'self.u.trim() == "x"', 'self.u.lowerAscii() == "x"', 'self.s.lowerAscii().contains(self.t.upperAscii())'),
  ...table('macros', 'macros', 'self.l.all(x, x > 1)', 'self.l.exists(x, x > 1)', 'self.l.exists_one(x, x > 1)', 'self.l.map(x, x + 1) == []', 'self.l.map(x, x > 1, x + 1) == []', 'self.l.filter(x, x > 1) == []', 'self.l.filter(x, x > 1).size() == 1', 'self.ls.all(x, x == "a")', 'self.ls.all(x, x.contains("a"))', 'self.ls.all(x, self.ls.exists(y, x == y))', 'self.lo.all(x, x.v > 1)', 'self.lo.exists(x, x.k == "a" && x.v == 2)', 'self.m.all(k, k == "x")', 'self.m.all(k, self.m[k] > 1)', 'self.m.map(k, k).size() == 1', 'self.ms.filter(k, self.ms[k] == "x") == []', 'self.lu.all(x, true)', 'self.lu.all(x, x == "a")', '[1, 2, 3].all(x, x > 1)', 'self.l.all(i, x, i < x)', 'self.l.exists(i, x, i < x)', 'self.l.existsOne(i, x, i < x)', 'self.l.transformList(i, x, x) == []', 'self.m.transformMap(k, v, v) == {}', 'self.m.transformMapEntry(k, v, {k: v}) == {}', 'self.m.all(k, v, v > 1)', 'self.?s.hasValue()', 'self.?s.orValue("x") == "x"', 'self.m[?"a"].orValue(1) == 1', 'optional.of(self.s).hasValue()', 'self.?o.?q.?r.orValue(1) == 1', 'self.?i.optMap(x, x + 1).orValue(1) == 1'),
  ...table('libraries', 'the libraries of the server', 'self.l.sum() == 1', 'self.l.min() == 1', 'self.l.max() == 1', 'self.l.isSorted()', 'self.l.indexOf(1) == 1', 'self.ls.indexOf("a") == 1', 'self.ls.lastIndexOf("a") == 1', 'self.ls.isSorted()', 'self.ls.min() == "a"', 'isURL(self.s)', 'url(self.s).getHost() == "x"', 'url(self.s).getScheme() == "x"', 'url(self.s).getQuery().size() == 1', 'url(self.t) == url(self.s)', 'isQuantity(self.s)', 'quantity(self.s).isInteger()', 'quantity(self.s).asInteger() == 1', 'quantity(self.s).add(quantity("1")).isInteger()', 'quantity(self.s).compareTo(quantity("1")) == 1', 'quantity(self.s).isGreaterThan(quantity(self.t))', 'quantity(self.s) == quantity(self.t)', 'isIP(self.s)', 'ip(self.s).family() == 4', 'ip(self.s).isLoopback()', 'ip(self.s) == ip(self.t)', 'ip.isCanonical(self.s)', 'isCIDR(self.s)', 'cidr(self.s).containsIP("1.2.3.4")', 'cidr(self.s).containsIP(ip(self.t))', 'cidr(self.s).containsCIDR("10.0.0.0/8")', 'cidr(self.s).prefixLength() == 8', 'cidr(self.s) == cidr(self.t)', 'string(ip(self.s)) == "x"', 'string(cidr(self.s)) == "x"', 'cidr(self.s).ip().family() == 4', 'cidr(self.s).masked() == cidr(self.t)', 'format.dns1123Label().validate(self.s).hasValue()', 'format.named("uuid").value().validate(self.s).hasValue()', 'format.uri().validate(self.t).hasValue()', 'sets.contains(self.l, [1, 2])', 'sets.contains(self.ls, self.ls)', 'sets.equivalent(self.l, self.l)', 'sets.intersects(self.ls, ["a"])'),
];

const items = (n) => [...Array(n)].map((_, i) => i);
const big = crd({ spec: object({ v: l(integer(), 1000, rules('self.all(x, self.exists(y, x == y))')) }) });
/** Found by trial: the largest list that a rule of this form can go over within the limit of 1000000, and the next. */
const boundary = (id, about, rule, n, more = {}) => withCrd(`cel-cost-runtime-${id}`, { section, about: `${about}: ${n} items are within the limit, ${n + 1} are not` }, crd({ spec: object({ v: l(more.items ?? integer(), n + 1, rules(rule)) }) }), [n, n + 1].map((k) => POST(at(), widget('w', { spec: { v: (more.values ?? items)(k) } }), { query: { dryRun: 'All' }, pick: (b) => (b?.spec ? 'accepted' : causeLines(b)) })));
const texts = (k) => [...Array(k)].map((_, i) => `item-${String(i).padStart(6, '0')}`);
const ofStrings = { items: s(20), values: texts };
const runtime = [
  boundary('sum', 'nested loops over integers', 'self.all(x, self.all(y, x + y >= 0))', 377),
  boundary('map-filter', 'map and filter', 'self.map(x, self.filter(y, y > x).size()).size() >= 0', 323),
  boundary('size', 'sizes of strings', 'self.all(x, self.all(y, x.size() + y.size() > 0))', 333, ofStrings),
  boundary('contains', 'startsWith and contains', 'self.all(x, self.all(y, x.startsWith("item") && y.contains("item")))', 333, ofStrings),
  boundary('two-variables', 'a macro with two variables', 'self.all(x, self.all(i, y, i >= 0))', 446),
  boundary('matches', 'regular expressions', 'self.all(x, self.all(y, x.matches("^item-[0-9]+$")))', 288, ofStrings),
  boundary('conversions', 'conversions', 'self.all(x, self.all(y, string(x) != "z" && int(string(y)) >= 0))', 315),
  withCrd('cel-cost-runtime-object', { section, about: 'all rules of an object share a budget of 10000000; when it is spent, no more rules run' }, crd({ spec: object({ v: l(integer(), 370, rules(...[...Array(13)].map((_, i) => `self.all(x, self.all(y, x + y >= -${i}))`))) }) }), [POST(at(), widget('w', { spec: { v: items(300) } }), { query: { dryRun: 'All' }, pick: (b) => (b?.spec ? 'accepted' : causeLines(b)) }), POST(at(), widget('w', { spec: { v: items(370) } }), { query: { dryRun: 'All' } })]),
  withCrd('cel-cost-runtime-rule', { section, about: 'one rule that costs too much when run' }, big, [POST(at(), widget('w', { spec: { v: items(100) } }), { pick: (b) => b?.spec ? 'accepted' : causeLines(b) }), POST(at(), widget('v', { spec: { v: items(1000) } }))]),
  withCrd('cel-cost-existing-kept', { section, about: 'a definition with a costly rule can be changed' }, big, [PATCH(crdPath(), 'merge', { metadata: { labels: { a: 'b' } } }, { pick: (b) => b?.kind }), PATCH(crdPath(), 'json-patch', [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/w', value: { type: 'string', ...rules('self.matches("a*") && self.matches("b*")') } }], { pick: (b) => (b?.details?.causes ? causeLines(b) : b?.kind) })]),
];

export default [...estimates, ...tables, ...runtime];
