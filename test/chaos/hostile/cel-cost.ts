/**
 * Compares the real CPU time of CEL expressions with their estimated cost:
 * `node test/chaos/hostile/cel-cost.ts [NAME]`. Calls every function on the largest values that fit
 * into a request: once, in the longest loops that a rule can contain, and in chains. Also compiles
 * the longest expressions. Prints how long each rule blocked the event loop, in descending order.
 */
import type { Fields, Json } from '../../../src/api/object.ts'
import { compile, compileInTurns } from '../../../src/objects/cel/compile.ts'
import { withVariables } from '../../../src/objects/cel/environment.ts'
import { valueOf } from '../../../src/objects/cel/json-values.ts'
import { kubernetesEnvironment, storedVersion } from '../../../src/objects/cel/kubernetes.ts'
import type { Slice } from '../../../src/objects/cel/run.ts'
import { typeOfSchema } from '../../../src/objects/cel/schema-type.ts'
import { atOnce, type Turns } from '../../../src/objects/cel/turns.ts'
import { CelError } from '../../../src/objects/cel/values.ts'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const RULE_COST_MAX = 1_000_000
const ESTIMATE_MAX = 10_000_000
const SLICE_MS = 5
const TURN_MS_MAX = 50
/** Time after which a measurement is aborted. It exceeds the time limit of an evaluation. */
const TOTAL_MS_MAX = 1_500

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))
const string: Fields = { type: 'string' }
/**
 * Schema of strings that are so short that functions process them without checking the deadline.
 */
const line: Fields = { type: 'string', maxLength: 199 }
const integer: Fields = { type: 'integer' }
const strings: Fields = { type: 'array', items: string }
const deep: Fields = {
  type: 'object',
  properties: { a: strings, m: { type: 'object', additionalProperties: string }, n: integer },
}

/**
 * A schema as an attacker would write it: it has size limits only where the cost estimate requires
 * them.
 */
const schema: Fields = {
  type: 'object',
  properties: {
    loop: { type: 'array', maxItems: 100_000, items: integer },
    few: { type: 'array', maxItems: 300, items: integer },
    words: { type: 'array', maxItems: 400, items: { type: 'string', maxLength: 20 } },
    patterns: { type: 'array', maxItems: 300, items: { type: 'string', maxLength: 10 } },
    deeps: { type: 'array', maxItems: 400, items: deep },
    huges: { type: 'array', items: deep, maxItems: 2 },
    text: string,
    wide: string,
    astral: string,
    blanks: string,
    mixed: string,
    query: string,
    short: { type: 'string', maxLength: 1_000 },
    bytes: { type: 'string', format: 'byte' },
    many: strings,
    set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    numbers: { type: 'array', items: integer },
    map: { type: 'object', additionalProperties: string },
    time: { type: 'string', format: 'date-time' },
    any: { 'x-kubernetes-int-or-string': true },
    version: line,
    span: line,
    address: line,
    quotes: line,
    lines: { type: 'array', maxItems: 10, items: line },
  },
}

const large = (): Json => ({
  a: times(60, (at) => `item ${at}`),
  m: Object.fromEntries(times(60, (at) => [`k${at}`, `v${at}`])),
  n: 1,
})
const huge = (): Json => ({
  a: times(50_000, (at) => `item ${at}`),
  m: Object.fromEntries(times(50_000, (at) => [`k${at}`, `v${at}`])),
  n: 1,
})

/**
 * Functions that generate field values. Only the fields that an expression uses get values, because
 * the values of all fields would not fit into a request.
 */
const values: { readonly [field: string]: () => Json } = {
  loop: () => times(100_000, (at) => at),
  few: () => times(300, (at) => at),
  words: () => times(400, (at) => `w${at}`),
  patterns: () => times(300, (at) => `a[${at}]*b`.slice(0, 10)),
  deeps: () => times(400, large),
  huges: () => [huge(), huge()],
  text: () => 'ab'.repeat(1_000_000),
  wide: () => 'é€'.repeat(400_000),
  astral: () => '😀'.repeat(400_000),
  blanks: () => `${' '.repeat(2_000_000)}x${' '.repeat(900_000)}`,
  mixed: () => 'aA'.repeat(1_000_000),
  query: () => `https://a/b?${'a=1&'.repeat(500_000)}`,
  short: () => 'a'.repeat(1_000),
  bytes: () => Buffer.alloc(2_000_000, 97).toString('base64'),
  many: () => times(200_000, (at) => `v${at}`),
  set: () => times(100_000, (at) => `v${at}`),
  numbers: () => times(300_000, (at) => at),
  map: () => Object.fromEntries(times(100_000, (at) => [`k${at}`, 'v'])),
  time: () => '2026-01-01T00:00:00Z',
  any: () => 'ab'.repeat(1_000_000),
  version: () => `1.2.3-${'a.'.repeat(96)}a`,
  span: () => '1ns'.repeat(66),
  address: () => '2001:db8::1',
  quotes: () => '"'.repeat(199),
  lines: () => times(10, (at) => `${at}${'é'.repeat(190)}`),
}

/** CEL calls. Each of them is measured alone and in loops. */
const calls: readonly string[] = [
  ...['text', 'wide', 'astral'].flatMap((field) => [
    `self.${field}.size() > 0`,
    `self.${field}.charAt(100) != 'x'`,
    `self.${field} != 'x'`,
    `'x' != self.${field}`,
    `self.${field} < 'x'`,
    `self.${field} + 'x' != ''`,
    `self.${field}.startsWith('x') || true`,
    `self.${field}.endsWith('x') || true`,
    `self.${field}.contains('x') || true`,
    `self.${field}.indexOf('x') < 0`,
    `self.${field}.lastIndexOf('x') < 0`,
    `self.${field}.lowerAscii() != ''`,
    `self.${field}.upperAscii() != ''`,
    `self.${field}.replace('', 'xy') != ''`,
    `self.${field}.replace('a', 'xy') != ''`,
    `self.${field}.split('').size() > 0`,
    `self.${field}.split('b').size() > 0`,
    `self.${field}.substring(1) != ''`,
    `self.${field}.substring(5, 50) != ''`,
    `self.${field}.trim() != ''`,
    `strings.quote(self.${field}) != ''`,
    `'%s'.format([self.${field}]) != ''`,
    `'%x'.format([self.${field}]) != ''`,
    `bytes(self.${field}).size() > 0`,
    `isURL(self.${field}) || true`,
    `isIP(self.${field}) || true`,
    `isCIDR(self.${field}) || true`,
    `isQuantity(self.${field}) || true`,
    `isSemver(self.${field}) || true`,
    `isSemver(self.${field}, true) || true`,
    `int(self.${field}) == 1 || true`,
    `uint(self.${field}) == 1u || true`,
    `double(self.${field}) == 1.0 || true`,
    `bool(self.${field}) || true`,
    `duration(self.${field}) == duration('1s') || true`,
    `timestamp(self.${field}) == timestamp('2026-01-01T00:00:00Z') || true`,
    `url(self.${field}).getHost() != '' || true`,
    `ip(self.${field}).family() != 4 || true`,
    `quantity(self.${field}).isInteger() || true`,
    `!format.dns1123Label().validate(self.${field}).hasValue() || true`,
    `!format.qualifiedName().validate(self.${field}).hasValue() || true`,
    `!format.uri().validate(self.${field}).hasValue() || true`,
    `!format.byte().validate(self.${field}).hasValue() || true`,
    `!format.datetime().validate(self.${field}).hasValue() || true`,
    `{self.${field}: 1}.size() > 0`,
    `self.${field} in ['x'] || true`,
    `self.${field} in self.map || true`,
    `type(self.${field}) == string`,
    `[self.${field}].join('x') != ''`,
    `self.${field}.find('x') == ''`,
    `self.${field}.findAll('x').size() == 0`,
    `self.${field}.matches('x') || true`,
  ]),
  `self.any == 'x' || true`,
  `string(self.any) != '' || true`,
  `self.blanks.trim() != ''`,
  `strings.quote(self.blanks) != ''`,
  `self.blanks.split(' ').size() > 0`,
  `self.mixed.lowerAscii() != ''`,
  `self.mixed.upperAscii() != ''`,
  `strings.quote(self.astral) != ''`,
  `url(self.query).getQuery().size() > 0`,
  `url(self.query).getEscapedPath() != ''`,
  `url('https://a/' + self.text).getEscapedPath() != ''`,
  `url('https://a/ü' + self.text).getEscapedPath() != ''`,
  `url('https://' + self.text + '/').getHostname() != ''`,
  `isURL('https://[' + self.text) || true`,
  `isQuantity('1' + self.text.replace('ab', '0'))`,
  `double(self.text.replace('ab', '1')) > 0.0 || true`,
  `self.short.replace('a', self.short) != ''`,
  `self.short.replace('', self.short).replace('', 'x') != ''`,
  `self.many.join(self.short).size() > 0`,
  `self.bytes.size() > 0`,
  `string(self.bytes) != ''`,
  `self.bytes == b'x' || true`,
  `self.bytes + b'x' != b''`,
  `self.huges[0] == self.huges[1]`,
  `self.huges[0] != self.huges[1] || true`,
  `self.huges[0].m == self.huges[1].m`,
  `self.huges[0].a == self.huges[1].a`,
  `self.huges[0] in self.huges`,
  `dyn(self.huges[0]) == dyn(self.huges[1])`,
  `self.deeps[0] == self.deeps[1]`,
  `'%s'.format([self.huges[0].a]) != ''`,
  `'%s'.format([self.map]) != ''`,
  `self.map.size() > 0`,
  `self.map == self.map`,
  `'x' in self.map || true`,
  `self.map.all(k, true)`,
  `self.map.map(k, k).size() > 0`,
  `self.many.size() > 0`,
  `self.many == self.many`,
  `(self.many + ['x']).size() > 0`,
  `(['x'] + self.many).size() > 0`,
  `(self.many + self.many + self.many).size() > 0`,
  `'x' in self.many || true`,
  `self.many.join(',') != ''`,
  `self.many.isSorted() || true`,
  `self.many.max() != ''`,
  `self.many.indexOf('x') < 0`,
  `self.many.lastIndexOf('x') < 0`,
  `self.numbers.sum() > 0`,
  `self.numbers.max() > 0`,
  `self.numbers.isSorted()`,
  `'%s'.format([self.many]) != ''`,
  `self.set.size() > 0`,
  `self.set == self.set`,
  `(self.set + ['x']).size() > 0`,
  `(self.set + self.set) == self.set`,
  `'x' in self.set || true`,
  `sets.contains(self.set, ['x']) || true`,
  `sets.contains(self.words, self.words)`,
  `sets.equivalent(self.words, self.words)`,
  `sets.intersects(self.words, ['x']) || true`,
  `sets.contains(self.deeps, self.deeps)`,
  `sets.equivalent(self.deeps, self.deeps)`,
  `self.time.getHours('America/New_York') >= 0`,
  `self.time.getDayOfYear() >= 0`,
  `string(self.time) != ''`,
  `duration('1h30m').getSeconds() > 0`,
  `ip('2001:db8::1').family() == 6`,
  `cidr('2001:db8::/32').containsIP('2001:db8::1')`,
  `cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')`,
  `quantity('1.5Gi').add(quantity('1M')).asApproximateFloat() > 0.0`,
  `semver('1.2.3-a.b').isLessThan(semver('1.2.4'))`,
  `url('https://a:80/b?c=d').getQuery().size() > 0`,
  `format.dns1123Label().validate('abc').hasValue() || true`,
  `'%d %s %f %e %x'.format([1, 'a', 1.5, 2.5, 255]) != ''`,
  `'a,b,c,d,e'.split(',').join('-').upperAscii().lowerAscii().trim() != ''`,
  `'abcdef'.matches('^[a-f]+$')`,
  `'abcdef'.find('[c-d]+') == 'cd'`,
  `{'a': 1, 'b': 2}['a'] == 1`,
  `[1, 2, 3].map(x, x * 2).size() == 3`,
  `[3, 2, 1].max() == 3`,
  `optional.of(1).optMap(x, x + 1).orValue(0) > 0`,
]

/** Expressions that contain their own loops. */
const whole: readonly string[] = [
  'self.words.all(x, self.words.all(y, x == y || true))',
  'self.words.all(x, self.words.all(y, (x + y) != ""))',
  'self.words.map(x, self.words.map(y, x + y)).size() > 0',
  'self.words.all(x, self.patterns.all(y, x.matches(y) || true))',
  'self.patterns.all(x, self.patterns.all(y, "aaaa".matches(x + y) || true))',
  'self.few.all(x, self.few.all(y, "aaaa".matches(string(x) + string(y)) || true))',
  'self.few.all(x, self.few.all(y, "aaaa".find(string(x) + "+(a|b)*" + string(y)) == ""))',
  'self.few.all(x, self.few.all(y, "aaaa".matches("(a{1,1000})" + string(x) + string(y)) || true))',
  'self.deeps.all(x, self.deeps.all(y, x == y))',
  'self.deeps.all(x, self.deeps.exists(y, x.m == y.m && x.a == y.a))',
  'self.deeps.all(x, x in self.deeps)',
  'self.loop.all(x, self.loop.exists(y, y > 1))',
  'self.loop.map(x, [x]).size() > 0',
  'self.loop.filter(x, x % 2 == 0).size() > 0',
  'self.loop.map(x, x).sum() > 0',
  'self.loop.map(x, string(x)).join(",") != ""',
  'self.loop.exists_one(x, x == 1)',
  'self.map.all(k, self.map[k] != "")',
  'self.many.all(x, x in self.set)',
  'self.many.all(x, self.many.indexOf(x) >= 0)',
  'self.loop.map(x, {x: x}).size() > 0',
  'self.loop.all(i, x, i == x)',
  'self.loop.transformMap(i, x, x).size() > 0',
  'self.few.transformMap(i, x, self.few.transformMap(j, y, x + y)).size() > 0',
  'self.few.all(x, self.few.transformMap(j, y, x + y).size() > 0 || self.few.transformMapEntry(j, y, {y: x}).size() > 0)',
  'self.text.split("").all(x, x != "c")',
  'self.text.split("b").map(x, x + "c").join("") != ""',
]

const EXPRESSION_CHARACTERS_MAX = 100_000

/** Repeats `part` as often as the maximum length of an expression allows. */
const filled = (start: string, part: string, separator: string, end: string): string => {
  const room = EXPRESSION_CHARACTERS_MAX - start.length - end.length
  return (
    start +
    times(Math.floor(room / (part.length + separator.length)), () => part).join(separator) +
    end
  )
}

/** Expressions without a loop that repeat a call up to the maximum length. */
const flat: readonly string[] = [
  ...[
    'isSemver(self.version)',
    '!semver(self.version).isLessThan(semver(self.version))',
    'self.lines.isSorted()',
  ],
  ...[
    'duration(self.span)>duration("0s")',
    'timestamp(self.time)>timestamp(0)',
    'string(self.time)!=""',
  ],
  ...[
    'self.time.getDayOfYear()>=0',
    'self.time.getHours("Asia/Tokyo")>=0',
    'isQuantity("1"+self.address)||true',
  ],
  ...[
    'ip(self.address).isGlobalUnicast()',
    '!isIP(self.quotes)',
    '!isCIDR(self.quotes)',
    '!isURL(self.quotes)',
  ],
  ...['(ip(self.quotes).isLoopback()||true)', '(cidr(self.quotes).prefixLength()>0||true)'],
  ...[
    '(url(self.quotes).getHost()!=""||true)',
    '!format.uri().validate(self.quotes).hasValue()||true',
  ],
  ...[
    'self.quotes.upperAscii()!=""',
    'strings.quote(self.quotes)!=""',
    'self.quotes.split("")!=[]',
  ],
  ...[
    '"%s".format([[self.quotes]])!=""',
    'self.lines.join(self.quotes)!=""',
    'self.lines+self.lines!=[]',
  ],
].map((call) => filled('', call, '&&', ''))

/** Expressions of the maximum length. */
export const longest: readonly string[] = [
  ...[
    '1',
    '-self.few[0]',
    '""',
    '[[1]]',
    '((((1))))',
    'true?1:2',
    '[1][0]',
    '1+1*1',
    'dyn(1)',
    'has(self.text)',
  ].map((part) => filled('[', part, ',', '].size() > 0')),
  ...['true', 'self.time!=self.time', 'self.few.all(x,x>0)', 'self.short.matches("a+")'].map(
    (part) => filled('', part, '||', ''),
  ),
  filled('', 'self.few.exists(x,x==1)', '&&', ''),
  `{${times(8_000, (at) => `"k${at}":1`).join(',')}}.size() > 0`,
  filled('"', '\\x41', '', '" != ""'),
  filled('"', 'é', '', '" != ""'),
  filled('true', ' ', '', ''),
]

setFlagsFromString('--expose-gc')
/** Collects the garbage of earlier rules, so that this does not happen while a rule is measured. */
const collectGarbage: () => void = runInNewContext('gc')

export type RuleCost = {
  readonly rule: string
  readonly turnMs: number
  readonly totalMs: number
  readonly about: string
}

/** Evaluates a rule. Returns undefined if the rule is rejected because of its estimated cost. */
export function measure(rule: string): RuleCost | undefined {
  const type = typeOfSchema(schema, { name: 'self' })
  if (type === undefined) throw new Error('no type')
  const compiled = compile(
    rule,
    withVariables(kubernetesEnvironment(storedVersion(33)), { self: type }),
  )
  if ('fault' in compiled) throw new Error(`${rule}: ${compiled.fault}`)
  if (atOnce((slice) => compiled.program.estimateCost(type, slice)).max > ESTIMATE_MAX)
    return undefined
  const self = valueOf(valueFor(rule), type)
  if (self instanceof CelError) throw new Error(self.message)
  collectGarbage()
  const evaluation = compiled.program.start({ self }, RULE_COST_MAX)
  let turnMs = 0
  let totalMs = 0
  let elsewhere = 0
  for (;;) {
    const [start, before] = [performance.now(), process.threadCpuUsage()]
    const result = evaluation.goOn({ isOver: () => performance.now() - start > SLICE_MS })
    const { user, system } = process.threadCpuUsage(before)
    const ms = (user + system) / 1000
    turnMs = Math.max(turnMs, ms)
    totalMs += ms
    if (totalMs > TOTAL_MS_MAX) return { rule, turnMs, totalMs, about: 'gave up' }
    if (result === undefined) continue
    if ('question' in result) {
      elsewhere++
      result.resume(result.question.answer())
      continue
    }
    const outcome = 'error' in result ? result.error : result.value === true ? 'true' : 'false'
    const asked = elsewhere === 0 ? '' : `, ${elsewhere} elsewhere`
    return { rule, turnMs, totalMs, about: `cost ${result.cost}${asked}: ${outcome.slice(0, 60)}` }
  }
}

export function measureCompile(rule: string): RuleCost {
  const type = typeOfSchema(schema, { name: 'self' })
  if (type === undefined) throw new Error('no type')
  const environment = withVariables(kubernetesEnvironment(storedVersion(33)), { self: type })
  let start = performance.now()
  const slice: Slice = { isOver: () => performance.now() - start > SLICE_MS }
  const work = (function* (): Turns<string> {
    const compiled = yield* compileInTurns(rule, environment, slice)
    if ('fault' in compiled) return compiled.fault
    return `estimate ${(yield* compiled.program.estimateCost(type, slice)).max}`
  })()
  let turnMs = 0
  let totalMs = 0
  for (;;) {
    start = performance.now()
    const before = process.threadCpuUsage()
    const { done, value } = work.next()
    const { user, system } = process.threadCpuUsage(before)
    turnMs = Math.max(turnMs, (user + system) / 1000)
    totalMs += (user + system) / 1000
    if (done === true)
      return {
        rule: `${rule.slice(0, 60)}…`,
        turnMs,
        totalMs,
        about: `compile, ${value.slice(0, 100)}`,
      }
    value?.resume(value.question.answer())
  }
}

const valueFor = (rule: string): Json =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, make]) =>
      new RegExp(`\\bself\\.${name}\\b`).test(rule) ? [[name, make()]] : [],
    ),
  )

/**
 * The measured rules. They include each call alone and in loops of several lengths. `measure` skips
 * the rules whose estimated cost exceeds the limit.
 */
export const rules: readonly string[] = [
  ...calls.flatMap((call) => [
    call,
    `self.few.all(i, ${call})`,
    `self.loop.all(i, ${call})`,
    `self.few.all(i, self.few.all(j, ${call}))`,
  ]),
  ...whole,
  ...flat,
]

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const wanted = rules.filter((rule) => rule.includes(process.argv[2] ?? ''))
  const run = [
    ...wanted.map((rule) => () => measure(rule)),
    ...longest
      .filter((rule) => rule.includes(process.argv[2] ?? ''))
      .map((rule) => () => measureCompile(rule)),
  ]
  const all = run.flatMap((each) => {
    const measured = each()
    if (measured !== undefined && measured.turnMs > TURN_MS_MAX)
      console.error(`${measured.turnMs.toFixed(0)} ms ${measured.rule.slice(0, 120)}`)
    return measured ?? []
  })
  for (const { rule, turnMs, totalMs, about } of all.toSorted(
    (one, other) => other.turnMs - one.turnMs,
  )) {
    console.log(
      `${turnMs.toFixed(1).padStart(8)} ms a tick, ${totalMs.toFixed(0).padStart(6)} ms in total  ${rule.slice(0, 120)}  (${about})`,
    )
  }
  console.log(`${all.length} of ${run.length} pass the estimate`)
}
