import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silent } from './log.ts'
import { Metrics } from './metrics.ts'
import { QueueMetrics } from './queue-metrics.ts'
import { WorkQueue } from '../concurrency/work-queue.ts'

test('the metrics of queues with the same name are added up, and a disposed queue does not count', async () => {
  const metrics = new Metrics()
  const queues = new QueueMetrics(metrics)
  let nowMs = 0
  const done = Promise.withResolvers<undefined>()
  const queue = (): WorkQueue =>
    new WorkQueue({
      name: 'test',
      workersMax: 1,
      work: () => done.promise,
      log: silent,
      measured: { metrics: queues, as: 'certificate', monotonicMs: () => nowMs },
    })
  const shown = (): (number | undefined)[] =>
    ['unfinished_work_seconds', 'longest_running_processor_seconds'].map((name) => {
      const line = new RegExp(`^workqueue_${name}\\{name="certificate"\\} (.*)$`, 'm').exec(
        metrics.print(),
      )
      return line === null ? undefined : Number(line[1])
    })
  const [first, second] = [queue(), queue()]
  first.add('a')
  nowMs = 1000
  second.add('b')
  nowMs = 3000
  assert.deepEqual(shown(), [5, 3])
  done.resolve(undefined)
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  assert.deepEqual(shown(), [0, 0])
})
