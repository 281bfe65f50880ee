import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json } from '../../api/object.ts'
import { compile, compileInTurns, type EvaluationResult, type Program } from './compile.ts'
import { withVariables } from './environment.ts'
import { valueOf } from './json-values.ts'
import { kubernetesEnvironment, storedVersion } from './kubernetes.ts'
import { PatternThread } from './pattern-thread.ts'
import { PatternQuestion } from './regex.ts'
import { typeOfSchema } from './schema-type.ts'
import { CelError, type Value } from './values.ts'

const schema: Fields = {
  type: 'object',
  properties: {
    numbers: { type: 'array', items: { type: 'integer' } },
    words: { type: 'array', items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    text: { type: 'string' },
    huge: { type: 'string' },
    line: { type: 'string' },
    short: { type: 'string' },
    few: { type: 'array', items: { type: 'integer' } },
    version: { type: 'string' },
    span: { type: 'string' },
    address: { type: 'string' },
    quotes: { type: 'string' },
    wide: { type: 'string' },
    lines: { type: 'array', items: { type: 'string' } },
  },
}
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
const object: Json = {
  numbers: numbers(120),
  words: numbers(120).map((at) => `w${at}`),
  map: Object.fromEntries(numbers(120).map((at) => [`k${at}`, `v${at}`])),
  text: 'ab,'.repeat(50_000),
  huge: 'ab,'.repeat(165_000),
  line: 'x'.repeat(4_900),
  short: 'ab'.repeat(49),
  few: numbers(8),
  version: `1.2.3-${'a.'.repeat(96)}a`,
  span: '1ns'.repeat(66),
  address: '2001:db8::1',
  quotes: '"'.repeat(199),
  wide: 'é€'.repeat(400_000),
  lines: numbers(10).map((at) => `${at}${'é'.repeat(190)}`),
}

function read(rule: string): { readonly program: Program; readonly self: Value } {
  const type = typeOfSchema(schema, { name: 'self' })
  assert(type !== undefined)
  const compiled = compile(
    rule,
    withVariables(kubernetesEnvironment(storedVersion(33)), { self: type }),
  )
  assert('program' in compiled, 'fault' in compiled ? compiled.fault : '')
  const self = valueOf(object, type)
  assert(!(self instanceof CelError))
  return { program: compiled.program, self }
}

/** Evaluates a rule, and interrupts it as often as possible. */
function evaluatePausing(
  rule: string,
  costMax: number,
): { readonly result: EvaluationResult; readonly pauses: number } {
  const { program, self } = read(rule)
  const evaluation = program.start({ self }, costMax)
  for (let pauses = 0; ; pauses++) {
    const turn = evaluation.goOn({ isOver: () => true })
    if (turn !== undefined && !('question' in turn)) return { result: turn, pauses }
    turn?.resume(turn.question.answer())
  }
}

const rules: readonly string[] = [
  'self.numbers.all(x, self.numbers.all(y, x + y >= 0))',
  'self.numbers.map(x, self.numbers.filter(y, y > x).size()).sum() == 7140',
  'self.numbers.exists_one(x, self.numbers.all(y, y <= x)) && self.words.all(w, self.words.exists(v, v == w))',
  'self.map.all(k, self.words.exists(w, w.size() > 0 && self.map[k] != w))',
  'self.numbers.map(x, self.words.map(w, w + string(x)).join(",")).join(";").size() > 10',
  'self.text.split(",").size() + self.text.split("b").size() == 100002 && self.numbers.all(x, self.text.size() > x)',
  'self.text.matches("^(ab,)+$") && self.words.all(w, !self.text.matches(w)) && self.text.find("b,a") == "b,a"',
  'self.numbers.all(x, self.numbers.all(y, self.numbers.all(z, x + y + z >= 0)))',
  'self.words.all(w, self.words.all(v, int(v) > 0)) || self.numbers.all(x, self.numbers.all(y, true))',
  '(self.numbers.all(x, self.numbers.all(y, x / 0 == y))) || self.words.exists(w, self.words.exists(v, v == "w119" && w == v))',
]

for (const rule of rules) {
  test(`interruptions change neither the value nor the cost of ${rule}`, () => {
    let all = 0
    for (const costMax of [1_000_000, 30_000]) {
      const { program, self } = read(rule)
      const { result, pauses } = evaluatePausing(rule, costMax)
      assert.deepEqual(result, program.evaluate({ self }, costMax))
      all += pauses
    }
    assert.ok(all > 3, `${all} pauses`)
  })
}

test('a worker thread matches long strings against patterns, and aborts matches that take too long', async () => {
  await using thread = new PatternThread()
  const text = 'ab'.repeat(10_000)
  const ask = (pattern: string, verb: 'matches' | 'find' | 'findAll', given = text) =>
    thread.answer(new PatternQuestion(pattern, given, { verb, limit: -1 }))
  assert.equal(await ask('^(ab)+$', 'matches'), true)
  assert.equal(await ask('b.*?b', 'find'), 'bab')
  const endless = await ask('a[^c]*c|a', 'findAll', 'a'.repeat(500_000))
  assert.ok(endless instanceof CelError)
  assert.equal(endless.message, 'the text is too long for the pattern')
  assert.equal(await ask('^(ba)+$', 'matches'), false)
})

test('work that is repeated after an interruption is charged once', () => {
  const short = Array.from({ length: 1_500 }, () => 'self.line.size() > 0').join(' && ')
  const rule = `${short} && self.numbers.all(x, self.numbers.all(y, x + y >= 0)) && self.words.all(w, self.words.all(v, v + w != ""))`
  const { program, self } = read(rule)
  const { result, pauses } = evaluatePausing(rule, 1_000_000)
  assert.deepEqual(result, program.evaluate({ self }, 1_000_000))
  assert.ok(pauses > 10, `${pauses} pauses`)
})

test('interruptions slow down a long expression with short loops by a bounded factor', () => {
  const short = Array.from({ length: 4_000 }, () => 'self.few.all(x,x<9)').join('&&')
  const { program, self } = read(`${short} && self.numbers.all(x, self.numbers.all(y, x + y >= 0))`)
  const timeOf = (sliceMs: number): number => {
    const evaluation = program.start({ self }, 1_000_000)
    const cpu = process.cpuUsage()
    let end = 0
    const slice = {
      isOver: () => performance.now() > end,
      begin: () => {
        end = performance.now() + sliceMs
      },
    }
    do slice.begin()
    while (evaluation.goOn(slice) === undefined)
    return process.cpuUsage(cpu).user
  }
  timeOf(Number.POSITIVE_INFINITY)
  const [paused, whole] = [timeOf(1), timeOf(Number.POSITIVE_INFINITY)]
  assert.ok(paused < 30 * whole, `${paused} µs with pauses, ${whole} µs without`)
})

test('when the worker thread is disposed of, all pending matches fail immediately, and the thread is not started again', async () => {
  const thread = new PatternThread()
  const endless = new PatternQuestion('a[^c]*c|a', 'a'.repeat(500_000), {
    verb: 'findAll',
    limit: -1,
  })
  // Each of these matches takes two seconds of CPU time.
  const waiting = Array.from({ length: 15 }, () => thread.answer(endless))
  await new Promise((resolve) => setTimeout(resolve, 200))
  const began = performance.now()
  await thread[Symbol.asyncDispose]()
  for (const answer of [...waiting, thread.answer(endless)])
    assert.ok((await answer) instanceof CelError)
  assert.ok(performance.now() - began < 15_000)
})

test('an evaluation can be interrupted after matching a large pattern against a short text', () => {
  const rule = 'self.few.all(x, self.short.matches("(?:a|b|[^c]){99}") || x >= 0)'
  assert.ok(evaluatePausing(rule, 1_000_000).pauses >= 8)
})

const flat: readonly string[] = [
  'isSemver(self.version)',
  '!semver(self.version).isLessThan(semver(self.version))',
  'duration(self.span) > duration("0s")',
  'ip(self.address).isGlobalUnicast()',
  '!isCIDR(self.quotes)',
  '(ip(self.quotes).isLoopback() || true)',
  'self.quotes.upperAscii() != ""',
  'self.lines.isSorted()',
]

for (const call of flat) {
  test(`an evaluation can be interrupted after a slow call, even outside of a loop: ${call}`, () => {
    const { result, pauses } = evaluatePausing(
      Array.from({ length: 100 }, () => call).join(' && '),
      1_000_000,
    )
    assert('value' in result && result.value === true)
    assert.ok(pauses >= 100, `${pauses} pauses`)
  })
}

test('a single call can use the whole cost budget of a validation rule', () => {
  const { result } = evaluatePausing('!self.line.contains(self.line.replace("x", "y"))', 1_000_000)
  assert.ok('value' in result && result.value === true, 'an estimate of 240,100')
  const long = '!(self.line + self.line).contains((self.line + self.line).replace("x", "y"))'
  assert.ok(
    'value' in evaluatePausing(long, 2_000_000).result,
    '960,400, at 50 ns each more than the time of one call',
  )
  for (const rule of [
    'self.text.lowerAscii().size() > 0',
    '!isSemver(self.text)',
    'self.text.upperAscii() != self.text',
  ])
    assert.ok(
      'value' in evaluatePausing(rule.replaceAll('self.text', 'self.huge'), 1_000_000).result,
      rule,
    )
})

test('a long invalid IP address is quoted only if its error is used, and the time limit includes the quoting', () => {
  const { user } = process.cpuUsage()
  const unseen = evaluatePausing(
    'isIP(self.wide) || isCIDR(self.wide) || cidr("::/0").containsIP(self.wide)',
    1_000_000,
  )
  assert('error' in unseen.result && unseen.result.error === 'no such overload')
  const { result } = evaluatePausing('ip(self.wide).isLoopback() || true', 1_000_000)
  assert('error' in result && result.error.includes('cost limit exceeded'))
  assert.ok(process.cpuUsage().user - user < 1_500_000)
})

function mapTimeOf(count: number): number {
  const entries = numbers(count).map((at) => `${at}:self.few`)
  const { program, self } = read(`{${entries.join(', ')}, 0: self.few}.size() == ${count}`)
  const cpu = process.cpuUsage()
  assert.equal(Object.assign({ value: false }, program.evaluate({ self }, 1_000_000)).value, true)
  return process.cpuUsage(cpu).user
}

test('building a large map takes time proportional to the number of its entries', () => {
  mapTimeOf(100)
  assert.ok(mapTimeOf(6_000) < 2_500_000)
})

test('compiling a long expression with interruptions results in the same program', () => {
  const type = typeOfSchema(schema, { name: 'self' })
  assert(type !== undefined)
  const environment = withVariables(kubernetesEnvironment(storedVersion(33)), { self: type })
  const rule = `[${numbers(5_000).join(',')}].all(x, x >= 0 && [x, -x].size() == 2)`
  const compiling = compileInTurns(rule, environment, { isOver: () => true })
  let pauses = 0
  let turn = compiling.next()
  for (; turn.done !== true; turn = compiling.next()) pauses++
  assert('program' in turn.value)
  assert(pauses > 4 * 5_000, `${pauses} pauses`)
  assert.deepEqual(
    turn.value.program.evaluate({}, 1_000_000),
    read(rule).program.evaluate({}, 1_000_000),
  )
})

test('a pattern that takes a long time to compile is compiled outside of the evaluation, whether it is constant or computed', () => {
  const type = typeOfSchema(schema, { name: 'self' })
  assert(type !== undefined)
  const environment = withVariables(kubernetesEnvironment(storedVersion(33)), { self: type })
  const compileAsking = (rule: string) => {
    const asked: number[] = []
    const compiling = compileInTurns(rule, environment, { isOver: () => false })
    for (let turn = compiling.next(); ; turn = compiling.next()) {
      if (turn.done === true) return { compiled: turn.value, asked }
      if (turn.value === undefined) continue
      const { question, resume: report } = turn.value
      assert.ok(question instanceof PatternQuestion)
      asked.push(question.pattern.length)
      report(question.answer())
    }
  }
  const long = 'a|'.repeat(1_500)
  const { compiled, asked } = compileAsking(
    `self.short.matches('${long}b') && self.short.find('${long}b') == 'a'`,
  )
  assert.deepEqual(asked, [3_001, 3_001, 3_001])
  assert('program' in compiled)
  const { self } = read('true')
  const result = compiled.program.evaluate({ self }, 1_000_000)
  assert.equal('value' in result && result.value, true)
  assert.ok(
    evaluatePausing(`self.short.matches(self.line + '${long}') || true`, 1_000_000).pauses > 0,
  )
  const broken = compileAsking(`self.short.find('${long}(') == ''`).compiled
  assert('fault' in broken)
  assert.match(broken.fault, /missing closing \)/)
})
