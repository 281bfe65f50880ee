/** Waits for conditions and errors. */
import { fail } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { GrpcError } from '../../../src/net/grpc/errors.ts'
import { PATIENCE_MS } from '../../support/harness/until.ts'

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > endMs) fail(`not within ${timeoutMs} ms: ${what}`)
    await sleep(5)
  }
}

/** Returns the GrpcError with which a call fails. */
export async function failure(call: Promise<unknown>): Promise<GrpcError> {
  try {
    await call
  } catch (error) {
    if (error instanceof GrpcError) return error
    throw error
  }
  return fail('the call did not fail')
}
