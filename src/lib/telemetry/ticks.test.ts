import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Distribution } from './metrics.ts'
import { RunningWork } from '../scheduling/running-work.ts'
import { tickBounds, Ticks } from './ticks.ts'

function harness() {
  const series = new Distribution(tickBounds)
  const lines: Record<string, unknown>[] = []
  const work = new RunningWork()
  const at = { nowMs: 0, idleMs: 0, cpuMs: 0 }
  const readings = { nowMs: () => at.nowMs, idleMs: () => at.idleMs, cpuMs: () => at.cpuMs }
  const ticks = new Ticks({
    series,
    log: (_level, _message, fields) => void lines.push({ ...fields }),
    work,
    readings,
  })
  /**
   * Simulates a tick that follows some idle time. For `stolenMs` of the tick, the thread waits for
   * a CPU.
   */
  const turn = ({ idleMs = 0, cpuMs = 0, stolenMs = 0 }): void => {
    at.nowMs += idleMs + cpuMs + stolenMs
    at.idleMs += idleMs
    at.cpuMs += cpuMs
    ticks.read()
  }
  return { series, lines, work, at, ticks, turn }
}

const named = (step: string, bytes: number) => ({ step, bytes, describe: () => ({ bytes }) })

test('the idle time of the event loop is not part of a tick', () => {
  const { series, turn } = harness()
  turn({ idleMs: 5_000, cpuMs: 2 })
  turn({ idleMs: 3, cpuMs: 0.5 })
  assert.deepEqual(series.counts.slice(0, 3), [1, 1, 0])
  assert.equal(series.count, 2)
})

test('the log entry of a long tick names the kind of work that handled the largest object', () => {
  const { series, lines, work, ticks, turn } = harness()
  work.note(named('get', 100))
  turn({ cpuMs: 1 })
  work.note(named('validate', 1_000_000))
  work.note(named('get', 100))
  turn({ cpuMs: 150 })
  assert.equal(series.count, 1)
  ticks.flush()
  assert.equal(series.count, 2)
  assert.deepEqual(lines, [
    { cpuMs: 150, gcMs: 0, wallMs: 150, step: 'validate', bytes: 1_000_000 },
  ])
})

test('a long tick is attributed to work that began in an earlier tick, even if the work is not recorded again', () => {
  const { lines, work, ticks, turn } = harness()
  work.note(named('print', 10))
  turn({ cpuMs: 1 })
  turn({ cpuMs: 200 })
  ticks.flush()
  assert.equal(lines[0]?.['step'], 'print')
})

test('garbage collections and waiting for a CPU are not part of a long tick', () => {
  const { lines, at, ticks, turn } = harness()
  turn({ cpuMs: 1 })
  turn({ cpuMs: 20 })
  turn({ cpuMs: 50, stolenMs: 400 })
  turn({ cpuMs: 180 })
  ticks.collected(at.nowMs - 100, 90)
  ticks.flush()
  assert.deepEqual(lines, [])
  turn({ cpuMs: 180, stolenMs: 180 })
  ticks.collected(at.nowMs - 100, 60)
  ticks.flush()
  assert.deepEqual(
    lines.map(({ cpuMs, gcMs }) => [cpuMs, gcMs]),
    [[150, 30]],
  )
})
