import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StopTimes } from '../net/http/listener.ts'
import { type Stopping, stopAll } from './stop-all.ts'

/** Stops a server, and returns the names of the steps in order. */
async function endOf(sendsRetryAfter: boolean): Promise<string[]> {
  const steps: string[] = []
  const phase: Stopping['phase'] = { isStopping: false, isLeaving: false }
  const parts = new AsyncDisposableStack()
  parts.defer(() => void steps.push('parts'))
  const step = (name: string) => async (times: StopTimes) => {
    steps.push(`${name} ${times.graceMs}${phase.isLeaving ? ' refusing' : ''}`)
  }
  await stopAll({
    phase,
    tasks: [
      {
        [Symbol.asyncDispose]: async () =>
          void steps.push(`loops${phase.isStopping ? ' not ready' : ''}`),
      },
    ],
    listener: { drain: step('drain'), close: step('close') },
    parts,
    // The loops stop before this delay is over, so that the order of the steps is always the same.
    delayMs: 20,
    times: { graceMs: 7, watchGraceMs: 0 },
    sendsRetryAfter,
    log: (_level, _message, fields) => void steps.push(String(fields?.['name'])),
  })
  return steps
}

test('a server stops its components in the same order as kube-apiserver', async () => {
  assert.deepEqual(await endOf(false), [
    'ShutdownInitiated',
    'loops not ready',
    'PreShutdownHooksStopped',
    'AfterShutdownDelayDuration',
    'NotAcceptingNewRequest',
    'close 7',
    'HTTPServerStoppedListening',
    'InFlightRequestsDrained',
    'parts',
  ])
})

test('a server that sends Retry-After continues to listen until all requests are completed', async () => {
  assert.deepEqual((await endOf(true)).slice(4), [
    'NotAcceptingNewRequest',
    'drain 7 refusing',
    'InFlightRequestsDrained',
    'close 2000 refusing',
    'HTTPServerStoppedListening',
    'parts',
  ])
})
