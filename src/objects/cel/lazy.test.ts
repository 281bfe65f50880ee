import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { compile, type EvaluationResult } from './compile.ts'
import { withVariables } from './environment.ts'
import { kubernetesEnvironment, storedVersion } from './kubernetes.ts'
import { inTurns } from './turns.ts'
import { bool, dyn, int, list, struct } from './types.ts'
import { CelError, LazyStruct, type Result } from './values.ts'

const type = struct('v', { now: bool, later: bool, wrong: bool, empty: dyn, numbers: list(int) })

class Lazy extends LazyStruct {
  override readonly typeName = 'v'
  readonly read: (field: string) => MaybePromise<Result> | undefined
  readonly fields = (): readonly string[] => []

  constructor(read: Lazy['read']) {
    super()
    this.read = read
  }
}

function lazyStruct(): { readonly asked: string[]; readonly value: LazyStruct } {
  const asked: string[] = []
  const later = Promise.resolve(true)
  const value = new Lazy((field) => {
    asked.push(field)
    if (field === 'later') return later
    if (field === 'empty') return null
    return field === 'wrong'
      ? Promise.resolve(new CelError('no'))
      : field === 'now'
        ? true
        : undefined
  })
  return { asked, value }
}

async function evaluate(
  text: string,
): Promise<{ readonly asked: readonly string[]; readonly result: EvaluationResult }> {
  const { asked, value } = lazyStruct()
  const compiled = compile(
    text,
    withVariables(kubernetesEnvironment(storedVersion(33)), { v: type }),
  )
  assert.ok('program' in compiled, 'fault' in compiled ? compiled.fault : '')
  const { program } = compiled
  return {
    result: await inTurns((slice) => program.inTurns({ v: value }, 1_000_000, slice)),
    asked,
  }
}

test('a field is read only if an expression needs it', async () => {
  const { result, asked } = await evaluate('v.now || v.later')
  assert.deepEqual([result, asked], [{ value: true, cost: 2 }, ['now']])
})

test('the evaluation waits for a field and charges the cost of the field once', async () => {
  for (const text of [
    'v.now && v.later',
    'v.later && v.now',
    '[1, 2, 3].all(x, x > 0 && v.later) && v.now',
  ]) {
    const now = await evaluate(text.replaceAll('later', 'now'))
    const later = await evaluate(text)
    assert.deepEqual(later.result, now.result, text)
    assert.ok('value' in later.result && later.result.value === true)
  }
})

test('a field that is read lazily can be null', async () => {
  const { result } = await evaluate('v.empty == null && has(v.empty) && v.?empty.hasValue()')
  assert.ok('value' in result && result.value === true)
})

test('an error while reading a field is an evaluation error, and an absent field reports "no such key"', async () => {
  const errorOf = async (text: string): Promise<string> => {
    const { result } = await evaluate(text)
    return 'error' in result ? result.error : ''
  }
  assert.equal(await errorOf('v.wrong'), 'no')
  assert.equal(await errorOf('has(v.wrong)'), 'no')
  assert.equal(await errorOf('v.?wrong.orValue(true)'), 'no')
  assert.equal(await errorOf('v.numbers.size() == 1'), 'no such key: numbers')
  const { result } = await evaluate(
    'has(v.later) && !has(v.numbers) && v.?later.hasValue() && !v.?numbers.hasValue()',
  )
  assert.ok('value' in result && result.value === true)
})

test('the rejected promise of a lazily read field is handled, even if no caller waits for it', async () => {
  const value = new Lazy(() => Promise.reject(new Error('the authorizer is gone')))
  assert.ok(value.get('later') instanceof CelError)
  // An unhandled rejection would be reported in the next tick of the event loop. It would make this
  // test fail and end a server process.
  await setImmediate()
})
