// CEL: corners of rules that a fuzzer found: what is compiled and costed when, what literals and formats do, and defaults below maps.
import { POST, PATCH } from '../steps.ts';
import { crd, at, widget, object, string, integer, list, map, anything, tryCrd, withCrd, causeLines, rules } from './kit/crd.mjs';

const section = '2.11';
const outcome = (b) => (b?.details?.causes ? causeLines(b) : b?.spec !== undefined || b?.kind === 'Widget' ? 'accepted' : b);
const tried = (id, about, spec, more = {}) => tryCrd(`cel-corners-${id}`, { section, about }, crd({ spec, ...more }), { pick: outcome });
const on = (id, about, spec, objects, more = {}) =>
  withCrd(`cel-corners-${id}`, { section, about }, crd({ spec, ...more }), objects.map((o) => POST(at(), widget('w', { spec: o }), { query: { dryRun: 'All' }, pick: outcome })));
const item = (more) => object({ s: string({ maxLength: 20 }) }, more);

export default [
  tried('message-cost', 'a messageExpression is costed once, however many items there are', object({ l: list(item(rules({ rule: 'true', messageExpression: 'self.s + self.s' })), { maxItems: 10_000_000 }) })),
  tried('message-cost-alone', 'a messageExpression that is too costly by itself', object({ l: list(string({ maxLength: 2000 }), { maxItems: 1000, ...rules({ rule: 'true', messageExpression: 'self.all(a, self.all(b, a.contains(b))) ? "a" : "b"' }) }) })),
  tried('matches-function-cost', 'matches as a function costs nothing by size', object({ l: list(item(rules('matches(self.s, self.s)')), { maxItems: 1_000_000 }) })),
  tried('matches-method-cost', 'matches as a method does', object({ l: list(item(rules('self.s.matches(self.s)')), { maxItems: 1_000_000 }) })),
  tried('exists-one', 'existsOne needs two variables', list(integer(), { maxItems: 3, ...rules('self.existsOne(x, x == 1)', 'self.existsOne(i, x, x == 1)', 'self.exists_one(x, x == 1)', 'self.exists_one(i, x, x == 1)') })),
  tried('type-names', 'which types of libraries have names', integer(rules(...['kubernetes.Quantity', 'kubernetes.URL', 'kubernetes.NamedFormat', 'kubernetes.Semver', 'kubernetes.authorization.Authorizer', 'net.IP', 'net.CIDR', 'optional_type', 'google.protobuf.Duration', 'int'].map((name) => `type(self) == ${name}`)))),
  tried('type-names-of-values', 'values of libraries compared by type', integer(rules(...["type(quantity('1')) == type(quantity('2'))", "type(ip('::1')) == net.IP", "type(cidr('::/0')) == net.CIDR", "type(url('https://a')) == type(url('https://b'))"]))),
  tried('message-of-broken-rule', 'the message of a rule that does not compile is not compiled', integer(rules({ rule: 'nope', messageExpression: 'nope2' }, { rule: 'self', messageExpression: 'nope2' }, { rule: "int('x') == 1", messageExpression: 'nope2' }))),
  tried('message-faults', 'what is said of a messageExpression', integer(rules({ rule: 'true', messageExpression: "string(uint(-1))" }, { rule: 'true', messageExpression: 'nope' }, { rule: 'true', messageExpression: '1' }))),
  tried('embedded-cardinality', 'embedded resources count as small as they can be', object({ n: list(map(anything({ 'x-kubernetes-embedded-resource': true, ...rules('sets.intersects([100, 7, 3], [9])') }))) })),
  tried('embedded-in-list', 'embedded resources in a list', object({ d: list(anything({ 'x-kubernetes-embedded-resource': true, ...rules("'true' in {'b': 7}") })) })),
  tried('required-of-any-type', 'a required field without a type counts nothing', object({ name: map(object({ c: integer(), 'x-y': { 'x-kubernetes-preserve-unknown-fields': true } }, { required: ['c', 'x-y'], ...rules('[1, 2, 3, 4].all(x, x > 0)') })) })),
  tried('default-below-map', 'defaults of additionalProperties are not checked', map(integer({ default: 'x' }))),
  tried('default-in-map-of-objects', 'nor those below them', map(object({ a: integer({ default: 'x' }) }))),
  tried('default-transition-rule', 'a default is checked as if it was there before', object({ a: integer({ default: 1, ...rules('self > oldSelf', { rule: '!oldSelf.hasValue() || self > oldSelf.value()', optionalOldSelf: true }) }) })),
  tried('rules-in-all-of', 'rules in alternatives are not compiled', object({ a: integer({ allOf: [rules('nope')] }) })),
  tried('format-types', 'types in errors of format', integer(rules(...["'%x'.format([duration('1s')])", "'%x'.format([timestamp(0)])", "'%x'.format([[1, 2]])", "'%e'.format([{'a': 0}])", "'%d'.format([self > 1])", "'%d'.format(['a'])", "'%d'.format([type(self)])", "'%d'.format([quantity('1')])", "'%d'.format([null])", "'%f'.format([1u])", "'%s'.format([ip('::1')])", "'%d'.format([optional.of(1)])"].map((text) => `${text} == ''`)))),
  on('in-empty-list', 'nothing is in an empty list, whatever it is', object({ a: integer() }, rules('!(self.a in [])')), [{}, { a: 1 }]),
  on('in-list', 'what is looked for in a list must be there', object({ a: integer() }, rules('!(self.a in [1])')), [{}, { a: 1 }]),
  on('repeated-key', 'the last value of a repeated key counts', object({ e: string({ maxLength: 9 }) }, rules("{'a': 1, self.e: 2}['a'] == 2", "{'a': 1, 'a': 3}['a'] == 3", "{'a': 1, self.e: 2}.size() == 1")), [{ e: 'a' }, { e: 'b' }]),
  on('bytes', 'bytes are read as base64 of URLs', object({ by: string({ format: 'byte', maxLength: 9 }) }, rules('self.by.size() == 1', 'true')), [{ by: '/w==' }, { by: 'aa+/' }, { by: '_w==' }, { by: 'YQ==' }, { by: 'aGk=' }]),
  on('bytes-value', 'bytes with a rule of their own', object({ by: string({ format: 'byte', maxLength: 9, ...rules('self.size() == 1') }) }), [{ by: '/w==' }, { by: 'YQ==' }]),
  on('null-item', 'an item that is null where it must not be', object({ l: list(integer({ nullable: true }), { maxItems: 3, ...rules('self.all(x, x > 0)', 'self[0] == null') }) }), [{ l: [null] }, { l: [1, null] }]),
  on('message-fails', 'a messageExpression over the budget', object({ l: list(string({ maxLength: 10 }), { maxItems: 150, ...rules({ rule: 'self.size() < 2', messageExpression: 'self.all(a, self.all(b, (a + b).size() > 0)) ? "many" : ""' }) }) }), [{ l: ['a', 'b'] }]),
];
