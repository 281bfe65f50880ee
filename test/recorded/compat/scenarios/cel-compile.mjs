// CEL: rules that do not compile, and rules that are refused for their other fields.
import { POST } from '../steps.ts';
import { CRDS, crd, object, string, integer, list, map, anything, boolean, number, tryCrd, causeLines, rules } from './kit/crd.mjs';
import { refused } from './kit/cel.mjs';

const section = '2.11';
const on = (id, about, spec, more = {}) => tryCrd(`cel-compile-${id}`, { section, about }, crd({ spec, ...more }), { pick: (b) => (b?.details?.causes ? causeLines(b) : b?.spec ? 'accepted' : b) });
const str = (...r) => object({ v: string({ maxLength: 10, ...rules(...r) }) });

export default [
  refused('compile-syntax', 'syntax errors', 'self.', 'self.s ==', '1 +', '(self.i > 1', 'self.i > 1)', '"unclosed', 'self..s', 'a b', '==', '!', 'self.s[', '{', '[1,', 'x ? y', '?', '#', '$x', 'self.s === "x"', 'not self.b', 'self.b and true', 'if (self.b) true', "self.s = 'x'", 'self.i++', '`s`', '"\\q" == "q"', '0x', '1.2.3', '1e', '08', 'r"', 'b', 'in', 'for', 'self.for', 'self.in', 'true; false', '// comment only', 'self.b // fine'),
  refused('compile-references', 'unknown fields, variables and functions', 'selff.s', 'self.nope == 1', 'self.o.nope == 1', 'self.lo[0].nope == 1', 'self.s.nope == 1', 'self.i.x == 1', 'nope(self.s)', 'self.s.nope()', 'self.metadata.name == "x"', 'self.apiVersion == "v1"', 'self.kind == "x"', 'has(self.nope)', 'has(self)', 'has("x")', 'has(self.o["p"])', 'has(nope.x)', 'self.mo.q.nope == 1', 'self.m.anything == 1', 'spec.s == "x"', 'this.s == "x"', 'self.l.nope(x, x)'),
  refused('compile-types', 'operands of the wrong type', 'self.s + 1 == "x"', 'self.i == "7"', 'self.i + self.n == 1.0', 'self.s > 1', '!self.s', '-self.s == "x"', 'self.b && self.i', 'self.b ? 1 : "x"', 'self.s.startsWith(1)', 'self.l[0] == "x"', 'self.l["a"] == 1', 'self.m[1] == 1', '1 in self.m', '"x" in self.l', '"x" in self.s', 'self.l + ["a"] == self.l', '[1, "a"] == [1]', '{"a": 1, "b": "c"} == {}', '{"a": 1, 2: 3} == {}', 'size(self.i) == 1', 'self.i.size() == 1', 'self.ts == "2020"', 'self.du > 5', 'self.ts + self.ts == self.ts', 'self.by == "aGVsbG8="', 'self.da == self.ts', 'self.l.all(x, x)', 'self.l.map(x, x.k) == []', 'self.l.all("x", true)', 'self.i.all(x, true)', 'self.l.filter(x, 1) == []', 'self.l.exists(x)', 'self.l.map(x, y, z, w)', 'self.s == null', 'self.nul == null', 'self.on == null', 'self.ii == 5', 'self.ii == "5"', 'self.ii > 5', 'self.ii.x == 1', 'type(self.s) == "string"', 'self.lo == ["a"]', 'self == self.o', 'self.o == {"p": "q"}', 'null == self.i'),
  refused('compile-not-bool', 'rules that are no boolean', 'self.s', 'self.i', '1', '"true"', '[true]', 'null', 'self', 'dyn(true)', 'dyn(1)', 'self.ii', 'self.b', 'optional.of(true)', 'timestamp(0)', 'self.l.map(x, true)'),
  on('several-errors', 'several errors in one rule', str('self.x == nope && foo()')),
  on('multi-line', 'the position in a rule of several lines', str({ rule: 'self == "a" ||\n  self == nope ||\n\tself.x', message: 'm' })),
  on('unicode-position', 'the position after wide characters', str('self == "é😀" + nope')),
  on('tabs', 'tabs in a rule', str('\tself == nope')),
  on('long-line', 'a long rule', str(`${'self == "aaaaaaaaaa" || '.repeat(10)}nope`)),
  on('deep-nesting', 'parentheses nested too deep', str(`${'('.repeat(60)}true${')'.repeat(60)}`)),
  on('deep-nesting-251', 'expressions nested too deep', str(`${'!'.repeat(0)}${'['.repeat(300)}${']'.repeat(300)}.size() == 1`)),
  on('rule-empty', 'a rule is required', str({ rule: '' })),
  on('rule-blank', 'a rule of blanks', str({ rule: '  \n ' })),
  on('message-blank', 'a message of blanks', str({ rule: 'true', message: '  ' })),
  on('message-newline', 'a message has no line breaks', str({ rule: 'true', message: 'a\nb' })),
  on('message-missing', 'a rule with line breaks needs a message', str({ rule: 'self == "a" ||\nself == "b"' })),
  on('message-with-newline-rule', 'a rule with line breaks and a message', str({ rule: 'self == "a" ||\nself == "b"', message: 'a or b' })),
  on('message-trailing-newline', 'a message that ends with a line break', str({ rule: 'true', message: 'fine\n' })),
  on('message-expression-blank', 'a messageExpression of blanks', str({ rule: 'true', messageExpression: '  ' })),
  on('message-expression-syntax', 'a messageExpression that does not compile', str({ rule: 'true', messageExpression: '"a" +' })),
  on('message-expression-type', 'a messageExpression that is no string', str({ rule: 'true', messageExpression: '5' })),
  on('message-expression-reference', 'a messageExpression with an unknown field', str({ rule: 'true', messageExpression: 'self.x + "a"' })),
  on('message-expression-dyn', 'a messageExpression of type dyn', str({ rule: 'true', messageExpression: 'dyn("x")' })),
  on('message-expression-old-self', 'a messageExpression with oldSelf', str({ rule: 'self == oldSelf', messageExpression: '"was " + oldSelf' }, { rule: 'true', messageExpression: '"was " + oldSelf' })),
  on('reason-unknown', 'four reasons', str({ rule: 'true', reason: 'Nope' })),
  on('reason-good', 'each reason', str(...['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'].map((reason) => ({ rule: 'true', reason })))),
  ...[['blank', ' '], ['newline', '.a\n'], ['no-dot', 'a'], ['unknown', '.zz'], ['good', '.a'], ['nested', '.o.b'], ['list-item', '.l[0]'], ['list-item-field', '.l[0].c'], ['map-key', ".m['k']"], ['map-dot', '.m.k'], ['bracket', "['a']"], ['bracket-double', '["a"]'], ['dashed', ".d-e"], ['dashed-bracket', "['d-e']"], ['root', '.'], ['trailing-dot', '.a.'], ['too-deep', '.a.b'], ['quote', "['a"], ['escaped', '.d__dash__e'], ['preserved', '.any.x'], ['list', '.l']].map(([id, fieldPath]) =>
    on(`field-path-${id}`, `fieldPath ${JSON.stringify(fieldPath)}`, object({ a: string(), o: object({ b: string() }), l: list(object({ c: string() }), { maxItems: 3 }), m: map(string(), { maxProperties: 3 }), 'd-e': string(), any: anything() }, rules({ rule: 'true', fieldPath })))),
  on('optional-old-self-unused', 'optionalOldSelf without oldSelf', str({ rule: 'self == "x"', optionalOldSelf: true })),
  on('optional-old-self-false-unused', 'optionalOldSelf false without oldSelf', str({ rule: 'self == "x"', optionalOldSelf: false })),
  on('optional-old-self-type', 'oldSelf with optionalOldSelf is an optional value', str({ rule: 'self == oldSelf', optionalOldSelf: true })),
  on('optional-old-self-good', 'oldSelf with optionalOldSelf', str({ rule: 'oldSelf.orValue("") == self', optionalOldSelf: true })),
  on('old-self-in-atomic-list', 'oldSelf below items of an atomic list', object({ l: list(string({ maxLength: 5, ...rules('self == oldSelf') }), { maxItems: 3 }) })),
  on('old-self-in-set', 'oldSelf below items of a set', object({ l: list(string({ maxLength: 5, ...rules('self == oldSelf') }), { maxItems: 3, 'x-kubernetes-list-type': 'set' }) })),
  on('old-self-in-keyed-list', 'oldSelf below items of a keyed list', object({ l: list(object({ k: string({ maxLength: 5 }), v: integer(rules('self == oldSelf')) }, { required: ['k'] }), { maxItems: 3, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }) })),
  on('old-self-in-map', 'oldSelf in values of a map', object({ m: map(string({ maxLength: 5, ...rules('self == oldSelf') }), { maxProperties: 3 }) })),
  on('old-self-in-atomic-map', 'oldSelf below an atomic object', object({ o: object({ a: string({ maxLength: 5, ...rules('self == oldSelf') }) }, { 'x-kubernetes-map-type': 'atomic' }) })),
  on('old-self-nested-list', 'the path in the error is that of the outermost list', object({ l: list(object({ k: list(string({ maxLength: 5, ...rules('self == oldSelf') }), { maxItems: 3 }) }), { maxItems: 3 }) })),
  on('old-self-on-list', 'oldSelf on a list itself', object({ l: list(string({ maxLength: 5 }), { maxItems: 3, ...rules('self == oldSelf') }) })),
  on('old-self-has', 'oldSelf is found anywhere in a rule', object({ a: string({ maxLength: 3 }), l: list(string({ maxLength: 5 }), { maxItems: 3 }) }, rules('self.l.all(x, oldSelf.l.exists(y, x == y))', 'has(oldSelf.a)'))),
  on('preserve-unknown', 'fields of a subtree that preserves unknown fields cannot be used', object({ any: anything({ properties: { known: string() } }) }, rules('self.any.known == "x"', 'self.any.unknown == "x"', 'has(self.any)', 'self.any.size() == 1'))),
  on('untyped-field', 'a field without type cannot be used', object({ free: { 'x-kubernetes-preserve-unknown-fields': true }, a: string({ maxLength: 3 }) }, rules('self.free == "x"', 'has(self.free)', 'self.a == "x"'))),
  on('rule-on-untyped', 'a rule on a field without type', object({ free: { 'x-kubernetes-preserve-unknown-fields': true, ...rules('self == self') } })),
  on('embedded', 'metadata of an embedded resource: name and generateName only', object({ e: anything({ 'x-kubernetes-embedded-resource': true, ...rules('self.metadata.name == "x"', 'self.kind == "A"', 'self.apiVersion == "v1"', 'self.metadata.generateName == "x"', 'self.metadata.labels.size() == 1', 'self.metadata.namespace == "x"', 'self.spec == 1') }) })),
  on('root', 'the root has apiVersion, kind and metadata', object({ a: string({ maxLength: 5 }) }), { root: rules('self.metadata.name == "x"', 'self.metadata.generateName == "x"', 'self.kind == "Widget"', 'self.apiVersion == "x"', 'self.spec.a == "x"', 'self.metadata.namespace == "x"', 'self.metadata.labels["a"] == "x"', 'self.metadata.annotations.size() == 1', 'self.status.x == 1', 'has(self.metadata)') }),
  on('rules-in-items', 'rules at every level', object({ l: list(object({ a: integer(rules('self > 0')) }, rules('self.a > 0')), { maxItems: 3, ...rules('self.size() > 0') }), m: map(number(rules('self > 0.0')), { maxProperties: 3, ...rules('self.size() > 0') }), b: boolean(rules('self')) }, rules('self.b'))),
  on('rules-with-bad-schema', 'rules are still compiled where the schema is good', object({ a: string(rules('nope')), b: { type: 'text' } })),
  on('rules-with-bad-rule-below', 'a bad rule field stops the check of rules above', object({ a: string(rules({ rule: 'true', reason: 'Nope' })) }, rules('nope'))),
  on('escaped-names', 'names that are escaped in rules', object({ 'a-b': string(), 'c.d': string(), 'e/f': string(), g__h: string(), 'true': string(), 'in': string(), 'namespace': string(), 'int': string(), 'if': string(), '1x': string(), 'x y': string(), $z: string(), 'é': string(), _u: string(), __v: string() },
    rules('has(self.a__dash__b)', 'has(self.c__dot__d)', 'has(self.e__slash__f)', 'has(self.g__underscores__h)', 'has(self.__true__)', 'has(self.__in__)', 'has(self.__namespace__)', 'has(self.namespace)', 'has(self.int)', 'has(self.__int__)', 'has(self.__if__)', 'has(self._u)', 'has(self.__underscores__v)', 'has(self.1x)', 'has(self.x__space__y)', "self['a-b'] == ''", 'has(self.__z)', 'has(self.é)', 'has(self.true)', 'has(self.g__h)'))),
];
