/**
 * Checks that the duration of a rejection does not reveal how many characters of a secret were
 * right, or how long the secret is.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { createBootstrapTokens } from './bootstrap-token.ts'
import { createStaticTokens } from './static-tokens.ts'

const ROUNDS = 3000
const ATTEMPTS = 5
/**
 * Maximum ratio of the medians. On a busy machine, the medians of alternating measurements differ
 * by a few percent. The medians of a comparison that stops at the first difference differ by far
 * more.
 */
const RATIO_MAX = 1.5

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0
}

/**
 * Measures the ratio of two durations several times, and returns the smallest ratio. A busy machine
 * can disturb some attempts but not all, while a timing leak affects every attempt.
 */
async function ratioOf(one: () => unknown, other: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && least >= RATIO_MAX; attempt++)
    least = Math.min(least, await measureRatio(one, other))
  return least
}

/** Returns the ratio of the slower median to the faster one, which is at least 1. */
async function measureRatio(one: () => unknown, other: () => unknown): Promise<number> {
  const times: readonly [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, run] of [one, other].entries()) {
      const startMs = performance.now()
      await run()
      times[at]?.push(performance.now() - startMs)
    }
  }
  const [first, second] = [median(times[0]), median(times[1])]
  return Math.max(first, second) / Math.min(first, second)
}

test('the time to reject a static token does not depend on the position of the first wrong character', async () => {
  const secret = 'x'.repeat(4096)
  const user = { name: 'u', uid: '', groups: [] }
  const authenticate = createStaticTokens([{ token: secret, user }], [])
  const atStart = `y${secret.slice(1)}`
  const atEnd = `${secret.slice(1)}y`
  const ratio = await ratioOf(
    () => authenticate(atStart, []),
    () => authenticate(atEnd, []),
  )
  assert.ok(ratio < RATIO_MAX, `${ratio}`)
})

const encode = (text: string): string => Buffer.from(text).toString('base64')

test('the time to reject a bootstrap token does not depend on the position of the first wrong character', async () => {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    data: { 'token-id': encode('abcdef'), 'token-secret': encode('0123456789abcdef') },
  }
  const authenticate = createBootstrapTokens({
    readSecret: () => object,
    wallMs: () => 0,
    log: silent,
  })
  const ratio = await ratioOf(
    () => authenticate('abcdef.x123456789abcdef'),
    () => authenticate('abcdef.0123456789abcdex'),
  )
  assert.ok(ratio < RATIO_MAX, `${ratio}`)
})
