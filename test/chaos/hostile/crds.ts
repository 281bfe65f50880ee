/**
 * CustomResourceDefinitions and objects that attack a server. They contain patterns that take
 * exponential time in other engines, deep nesting, huge lists of all kinds, and rules of the
 * maximum cost. They also contain names that are properties of every JavaScript object. Bodies are
 * JSON text, because some bodies cannot be represented as JavaScript values.
 */

export type HostileDefinition = {
  readonly name: string
  /** Value of openAPIV3Schema, as JSON text. */
  readonly schema: string
  /** Schemas of additional versions, none of which is the storage version. */
  readonly otherVersions?: readonly string[]
  /** Whether the server must accept the definition; undefined if both results are correct. */
  readonly isAccepted?: boolean
  /**
   * Maximum CPU time of a tick of the event loop. Set only if the definition is known to be fast.
   */
  readonly turnMsMax?: number
  /**
   * Values of `spec`, as JSON text. An object with each of them is created. `isAccepted` states
   * whether the server must accept the object; undefined means that both results are correct.
   */
  readonly specs?: readonly (readonly [isAccepted: boolean | undefined, spec: string])[]
}

const json = (value: unknown): string => JSON.stringify(value)
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))
const inSpec = (schema: string): string => `{"type":"object","properties":{"spec":${schema}}}`
const nested = (depth: number, open: string, inner: string, close: string): string =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`
const string = { type: 'string' }

/** Returns a schema whose spec has these rules. */
const ruled = (schema: object, rules: readonly object[]): string =>
  inSpec(json({ ...schema, 'x-kubernetes-validations': rules }))

const patterns: readonly HostileDefinition[] = [
  {
    name: 'a pattern that backtracks without end',
    schema: inSpec(json({ type: 'string', pattern: '^(a+)+$' })),
    isAccepted: true,
    specs: [
      [false, json(`${'a'.repeat(100_000)}!`)],
      [true, json('a'.repeat(100_000))],
    ],
  },
  {
    name: 'a pattern of many alternatives that are all alike',
    schema: inSpec(
      json({ type: 'string', pattern: `^(${times(1_000, () => 'a*a*').join('|')})*b$` }),
    ),
    specs: [[false, json('a'.repeat(1_000))]],
  },
  {
    name: 'repeats of repeats',
    schema: inSpec(json({ type: 'string', pattern: '^((((a{1,30}){1,30}){1,30}){1,30}){1,30}$' })),
    specs: [[false, json('a'.repeat(1_000))]],
  },
  {
    name: 'many repeats of a large class',
    schema: inSpec(json({ type: 'string', pattern: `^${'[\\p{L}\\p{N}]{1,500}'.repeat(20)}$` })),
    specs: [[undefined, json('a'.repeat(5_000))]],
  },
  {
    name: 'a pattern of brackets within brackets',
    schema: inSpec(json({ type: 'string', pattern: nested(20_000, '(', 'a', ')') })),
    specs: [[undefined, json('a')]],
  },
  {
    name: 'a pattern in a rule that backtracks without end',
    schema: ruled({ type: 'string', maxLength: 20_000 }, [{ rule: "self.matches('^(a+)+$')" }]),
    isAccepted: true,
    specs: [[false, json(`${'a'.repeat(19_000)}!`)]],
  },
]

const shapes: readonly HostileDefinition[] = [
  ...[100, 5_000, 50_000].map((depth) => ({
    name: `a schema ${depth} deep`,
    schema: nested(depth, '{"type":"object","properties":{"a":', '{"type":"string"}', '}}'),
    specs: [[true, '{}']] as const,
  })),
  ...[50, 5_000].map((depth) => ({
    name: `alternatives ${depth} deep`,
    schema: inSpec(
      `{"type":"string","anyOf":[${nested(depth, '{"not":{"allOf":[', '{"minLength":1}', ']}}')}]}`,
    ),
    specs: [[undefined, '"a"']] as const,
  })),
  {
    name: 'values as deep as a body can be',
    schema: inSpec('{"type":"object","x-kubernetes-preserve-unknown-fields":true}'),
    isAccepted: true,
    specs: [
      [true, nested(400, '{"a":', '1', '}')],
      [undefined, nested(5_000, '{"a":', '1', '}')],
      [undefined, nested(200_000, '{"a":', '1', '}')],
      [undefined, `{"a":${nested(200_000, '[', '', ']')}}`],
    ],
  },
  {
    name: 'an enumeration of 50,000',
    schema: inSpec(json({ type: 'string', enum: times(50_000, (at) => `value-${at}`) })),
    specs: [
      [true, json('value-49999')],
      [false, json('none')],
    ],
  },
  {
    name: 'an enumeration of 5,000 objects',
    schema: inSpec(
      json({
        type: 'array',
        items: {
          type: 'object',
          properties: { a: string, b: string },
          enum: times(5_000, (at) => ({ a: `a${at}`, b: 'b' })),
        },
      }),
    ),
    specs: [[undefined, json(times(2_000, () => ({ a: 'a4999', b: 'b' })))]],
  },
  {
    name: '20,000 properties',
    schema: inSpec(
      json({
        type: 'object',
        properties: Object.fromEntries(times(20_000, (at) => [`property${at}`, string])),
      }),
    ),
    specs: [[true, json(Object.fromEntries(times(20_000, (at) => [`property${at}`, 'a'])))]],
  },
  {
    name: '30,000 required properties, none of them there',
    schema: inSpec(
      json({
        type: 'object',
        required: times(30_000, (at) => `property${at}`),
        properties: Object.fromEntries(
          times(30_000, (at) => [`property${at}`, { type: 'string' }]),
        ),
      }),
    ),
    specs: [[false, '{}']],
  },
  {
    name: 'a set of 100,000 values and a map of 20,000 items',
    schema: inSpec(
      json({
        type: 'object',
        properties: {
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
          map: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['a', 'b'],
            items: {
              type: 'object',
              required: ['a', 'b'],
              properties: { a: string, b: { type: 'integer' } },
            },
          },
        },
      }),
    ),
    isAccepted: true,
    specs: [
      [true, json({ set: times(100_000, (at) => `value-${at}`) })],
      [true, json({ map: times(20_000, (at) => ({ a: `a${at % 100}`, b: at })) })],
      [false, json({ map: times(20_000, () => ({ a: 'a', b: 1 })) })],
    ],
  },
  {
    name: 'unknown fields by the ten thousand',
    schema: inSpec('{"type":"object"}'),
    isAccepted: true,
    specs: [
      [
        true,
        json(Object.fromEntries(times(30_000, (at) => [`unknown-${at}-${'x'.repeat(60)}`, at]))),
      ],
    ],
  },
  {
    name: 'a default that many items are given',
    schema: inSpec(
      json({
        type: 'array',
        items: {
          type: 'object',
          properties: { a: { type: 'string', default: 'x'.repeat(500_000) } },
        },
      }),
    ),
    isAccepted: true,
    specs: [[false, json(times(50_000, () => ({})))]],
  },
  {
    name: 'a default of a megabyte',
    schema: inSpec(
      json({ type: 'array', items: string, default: times(100_000, (at) => `v${at}`) }),
    ),
    specs: [[true, '["a"]']],
  },
  {
    name: 'three versions of half a megabyte',
    schema: inSpec(
      json({
        type: 'object',
        properties: Object.fromEntries(
          times(6_000, (at) => [`stored${at}`, { ...string, description: 'x'.repeat(20) }]),
        ),
      }),
    ),
    otherVersions: times(2, (version) =>
      inSpec(
        json({
          type: 'object',
          properties: Object.fromEntries(
            times(6_000, (at) => [
              `version${version}of${at}`,
              { ...string, description: 'x'.repeat(20) },
            ]),
          ),
        }),
      ),
    ),
    isAccepted: true,
    specs: [[true, json(Object.fromEntries(times(6_000, (at) => [`stored${at}`, 'a'])))]],
  },
]

const list = (maxItems: number): object => ({
  type: 'array',
  maxItems,
  items: { type: 'string', maxLength: 10 },
})
const items = (count: number): string => json(times(count, (at) => `${at}`))

const rules: readonly HostileDefinition[] = [
  {
    name: 'comprehensions within comprehensions, without limits',
    schema: ruled({ type: 'array', items: string }, [
      { rule: 'self.all(a, self.all(b, self.all(c, a + b != c)))' },
    ]),
    isAccepted: false,
  },
  {
    name: 'comprehensions that cost as much as they may',
    schema: ruled(
      list(90),
      times(9, () => ({
        rule: "self.all(a, self.all(b, self.exists_one(c, c == 'none') || true))",
      })),
    ),
    specs: [[undefined, items(90)]],
  },
  {
    name: 'a text that doubles',
    schema: ruled({ type: 'string', maxLength: 1_000 }, [
      { rule: `size(${times(200, () => 'self').join(' + ')}) > 1`, message: 'no' },
    ]),
    specs: [[undefined, json('a'.repeat(1_000))]],
  },
  {
    name: 'a text that grows by each replacement',
    schema: ruled({ type: 'string', maxLength: 1_000 }, [
      { rule: `size(self${".replace('a', 'aaaaaaaaaa')".repeat(12)}) > 1` },
    ]),
    specs: [[undefined, json('a'.repeat(1_000))]],
  },
  {
    name: 'a list of lists of lists',
    schema: ruled(list(100), [{ rule: `size([self.map(a, self.map(b, self.map(c, self)))]) > 0` }]),
    specs: [[undefined, items(100)]],
  },
  {
    name: 'a message that costs more than its rule',
    schema: ruled(list(100), [
      { rule: 'false', messageExpression: "self.map(a, self.map(b, a + b).join(',')).join(',')" },
      {
        rule: 'false',
        messageExpression: `'${'a'.repeat(5_000)}'${".replace('a', 'aaaaaaaaaa')".repeat(10)}`,
      },
    ]),
    specs: [[undefined, items(100)]],
  },
  {
    name: '3,000 rules',
    schema: ruled(
      { type: 'object', properties: { a: string } },
      times(3_000, (at) => ({ rule: `!has(self.a) || self.a != 'value-${at}'` })),
    ),
    specs: [[true, '{"a":"b"}']],
  },
  {
    name: 'an expression as long as they may be',
    schema: ruled({ type: 'integer' }, [{ rule: `${times(45_000, () => '1').join('+')} > 0` }]),
  },
  ...['1', '-1', '[[1]]', '1+1*1', 'dyn(1)'].map((part) => ({
    name: `a list as long as an expression may be of ${part}`,
    schema: ruled({ type: 'integer' }, [
      {
        rule: `[${times(Math.floor(99_980 / (part.length + 1)), () => part).join(',')}].size() > 0`,
      },
    ]),
    isAccepted: true,
    turnMsMax: 50,
    specs: [[true, '1']] as const,
  })),
  {
    name: 'an expression of brackets within brackets',
    schema: ruled({ type: 'integer' }, [
      { rule: nested(40_000, '(', 'true', ')') },
      { rule: nested(40_000, '[', '1', ']') },
      { rule: `${'!'.repeat(90_000)}true` },
      { rule: `self${'.a'.repeat(40_000)}` },
    ]),
    isAccepted: false,
  },
  {
    name: 'optional values that are looked at again and again',
    schema: ruled({ type: 'integer' }, [
      { rule: `optional.of(1)${'.optMap(x, x + 1)'.repeat(60)}.hasValue()` },
    ]),
  },
  {
    name: 'conditions that double the types',
    schema: ruled({ type: 'integer' }, [{ rule: `${nested(60, 'dyn([', '1', ', 1])')} == 1` }]),
  },
]

/**
 * Expressions whose evaluation takes long compared with their estimated cost (found with
 * cel-cost.ts). The server accepts all of them, but they must not delay other clients.
 */
const expensive: readonly HostileDefinition[] = [
  {
    name: 'patterns that are known only when they are matched',
    rules: times(10, () => 'self.words.all(x, self.words.all(y, x.matches(y) || true))'),
    spec: { words: times(150, (at) => `w${at}`) },
  },
  {
    name: 'patterns that are never the same',
    rules: times(4, () => 'self.words.all(x, self.words.all(y, "a".matches(x + y) || true))'),
    spec: { words: times(150, (at) => `w${at}`) },
    isGood: undefined,
  },
  {
    name: 'a pattern whose automaton has too many states',
    rules: times(4, (at) => `self.text.matches("(?:a|b)*a[ab]{${20 + at}}[cd]") || true`),
    spec: { text: 'aababbabbaab'.repeat(2_000) },
  },
  {
    name: 'findings that each look at all of the text',
    rules: ['self.text.findAll("a[^c]*c|a").size() > 0'],
    spec: { text: 'a'.repeat(24_000) },
    isGood: undefined,
  },
  {
    name: 'rules that cost as much as they may',
    rules: times(9, (at) => `self.numbers.all(x, self.numbers.all(y, x + y >= ${-at}))`),
    spec: { numbers: times(370, (at) => at) },
  },
  {
    name: 'objects that are compared with one another',
    rules: times(3, () => 'self.objects.all(x, self.objects.all(y, x == y))'),
    spec: { objects: times(60, () => ({ a: times(100, (at) => `item ${at}`) })) },
  },
  {
    name: 'a long text whose characters are counted again and again',
    rules: [
      'self.numbers.all(x, self.wide.charAt(x) != "x" && self.wide.size() > x && self.wide != "x")',
    ],
    spec: { numbers: times(370, (at) => at), wide: 'é€'.repeat(100_000) },
    isGood: undefined,
  },
  {
    name: 'a long text of blanks, and one to be quoted',
    rules: ['self.wide.trim().size() == 1', 'strings.quote(self.wide).size() > 1'],
    spec: { wide: `${'\u0001'.repeat(100_000)}${' '.repeat(100_000)}x` },
    isGood: undefined,
  },
  {
    name: 'times in zones that have to be looked up',
    rules: [
      'self.numbers.all(x, self.numbers.all(y, timestamp(x).getHours("America/New_York") >= 0))',
    ],
    spec: { numbers: times(100, (at) => at) },
    isGood: undefined,
  },
].map(({ name, rules: texts, spec, ...more }) => ({
  name,
  schema: inSpec(
    json({
      type: 'object',
      properties: {
        words: { type: 'array', maxItems: 150, items: { type: 'string', maxLength: 5 } },
        numbers: { type: 'array', maxItems: 370, items: { type: 'integer' } },
        objects: {
          type: 'array',
          maxItems: 60,
          items: { type: 'object', properties: { a: { type: 'array', items: string } } },
        },
        text: { type: 'string', maxLength: 24_000 },
        wide: string,
      },
      'x-kubernetes-validations': texts.map((rule) => ({ rule })),
    }),
  ),
  isAccepted: true,
  turnMsMax: 50,
  specs: [['isGood' in more ? undefined : true, json(spec)]],
}))

const inherited = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', 'prototype']
const objectOf = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([name, text]) => `${json(name)}:${text}`).join(',')}}`
const inheritedValues = objectOf(inherited.map((name) => [name, '"own"']))

const names: readonly HostileDefinition[] = [
  {
    name: 'names that every object has, as properties, in defaults, enumerations and rules',
    schema: inSpec(
      `{"type":"object","required":["constructor"],"properties":${objectOf([
        ...inherited.map(
          (name) => [name, '{"type":"string","enum":["own","__proto__"],"default":"own"}'] as const,
        ),
        [
          'free',
          `{"type":"object","additionalProperties":{"type":"string"},"default":${inheritedValues},"x-kubernetes-validations":[{"rule":"size(self) == 6 && self.all(k, self[k] == 'own') && '__proto__' in self && !('isPrototypeOf' in self)"}]}`,
        ],
        ['open', `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`],
      ])},"x-kubernetes-validations":[{"rule":"self.constructor == 'own' && self.hasOwnProperty == 'own' && !has(self.open)"},{"rule":"{'__proto__': 1, 'constructor': 2}['__proto__'] == 1"}]}`,
    ),
    isAccepted: true,
    specs: [
      [true, '{}'],
      [true, inheritedValues],
      [false, '{"__proto__":"polluted"}'],
      [false, '{"__proto__":{"polluted":"yes"}}'],
      [false, '{"open":{"__proto__":{"polluted":"yes"}}}'],
    ],
  },
]

export const hostileDefinitions: readonly HostileDefinition[] = [
  ...patterns,
  ...shapes,
  ...rules,
  ...expensive,
  ...names,
]
