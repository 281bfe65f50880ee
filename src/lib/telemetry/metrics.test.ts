import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from './log.ts'
import { Metrics } from './metrics.ts'

test('metrics are printed as Prometheus text, sorted by name, with labels in declared order and the label le last', () => {
  const metrics = new Metrics()
  const seconds = metrics.histogram(
    { name: 'b_seconds', help: 'Time.', labels: ['verb'] },
    [0.005, 1, 1e9],
  )
  const total = metrics.counter({
    name: 'a_total',
    help: 'All.',
    stability: 'STABLE',
    labels: ['code', 'verb'],
  })
  metrics.gauge({ name: 'never_used', help: 'Nothing.', labels: ['x'] })
  const gauge = metrics.gauge({ name: 'c', help: 'Now.' })
  metrics.onPrint(() => (gauge.with().value = -1))
  total.with('200', 'GET').add()
  total.with('200', 'GET').add(2)
  total.with('404', 'say "x"\n').add()
  for (const value of [0.005, 0.5, 2]) seconds.with('GET').observe(value)
  assert.equal(
    metrics.print(),
    `# HELP a_total [STABLE] All.
# TYPE a_total counter
a_total{code="200",verb="GET"} 3
a_total{code="404",verb="say \\"x\\"\\n"} 1
# HELP b_seconds [ALPHA] Time.
# TYPE b_seconds histogram
b_seconds_bucket{verb="GET",le="0.005"} 1
b_seconds_bucket{verb="GET",le="1"} 2
b_seconds_bucket{verb="GET",le="1e+09"} 3
b_seconds_bucket{verb="GET",le="+Inf"} 3
b_seconds_sum{verb="GET"} 2.505
b_seconds_count{verb="GET"} 3
# HELP c [ALPHA] Now.
# TYPE c gauge
c -1
`,
  )
})

test('the number of series that clients can create is limited', () => {
  const metrics = new Metrics()
  const counter = metrics.counter({ name: 'x', help: 'X.', labels: ['path'] })
  for (let at = 0; at < 30_000; at++) counter.with(`/${at}`).add()
  assert.ok(metrics.print().split('\n').length < 20_010)
  assert.match(metrics.print(), /x\{path="other"\} 10000\n/)
})

test('a removed series is no longer printed, and starts at zero when it is used again', () => {
  const metrics = new Metrics()
  const counter = metrics.counter({
    name: 'made_total',
    help: 'Made.',
    labels: ['group', 'resource'],
  })
  for (const resource of ['gears', 'wheels']) counter.with('example.com', resource).add(3)
  counter.remove('example.com', 'wheels')
  assert.ok(!metrics.print().includes('wheels'))
  assert.match(metrics.print(), /resource="gears"\} 3/)
  counter.with('example.com', 'wheels').add()
  assert.match(metrics.print(), /resource="wheels"\} 1/)
})

test('a metric without labels is printed with the value 0 before it is counted', () => {
  const metrics = new Metrics()
  metrics.counter({ name: 'a_total', help: 'A.' })
  metrics.counter({ name: 'b_total', help: 'B.', labels: ['x'] })
  assert.match(metrics.print(), /^a_total 0$/m)
  assert.doesNotMatch(metrics.print(), /^b_total/m)
})

test('label values that are not allowed share one series, and removing one of these values keeps the series', () => {
  const metrics = new Metrics({ allowedLabels: new Map([['seen,code', new Set(['200'])]]) })
  const seen = metrics.counter({ name: 'seen', help: 'Seen.', labels: ['code', 'verb'] })
  for (const code of ['200', '404', '500']) seen.with(code, 'GET').add()
  seen.remove('404', 'GET')
  assert.equal(
    metrics.print(),
    '# HELP cardinality_enforcement_unexpected_categorizations_total [ALPHA] Number of times that a label value was replaced because it was not allowed.\n' +
      '# TYPE cardinality_enforcement_unexpected_categorizations_total counter\ncardinality_enforcement_unexpected_categorizations_total 2\n' +
      '# HELP seen [ALPHA] Seen.\n# TYPE seen counter\nseen{code="200",verb="GET"} 1\nseen{code="unexpected",verb="GET"} 2\n',
  )
})

function addThree(metrics: Metrics): string {
  metrics.countOwn()
  metrics.counter({ name: 'old_total', help: 'Old.', deprecatedSince: '1.27.0' })
  metrics.counter({
    name: 'young_total',
    help: 'Young.',
    stability: 'STABLE',
    deprecatedSince: '1.33.0',
  })
  metrics.counter({ name: 'noisy_total', help: 'Noisy.' })
  return metrics.print()
}

test('disabled and hidden metrics are not printed, but other metrics count them', () => {
  const shown = addThree(new Metrics({ release: 33, disabled: new Set(['noisy_total']) }))
  assert.doesNotMatch(shown, /^(old|noisy)_total/m)
  assert.match(shown, /^# HELP young_total \[STABLE\] \(Deprecated since 1\.33\.0\) Young\.$/m)
  assert.match(shown, /^hidden_metrics_total 1$/m)
  assert.match(shown, /^disabled_metrics_total 1$/m)
  assert.match(
    shown,
    /^registered_metrics_total\{deprecated_version="1.33.0",stability_level="STABLE"\} 1$/m,
  )
  assert.match(addThree(new Metrics({ release: 33, showsHidden: true })), /^old_total 0$/m)
})

test('deprecated metrics that an operator has enabled are logged, unless they are disabled', () => {
  const logged: string[] = []
  const log: Log = (level, message) => logged.push(`${level} ${message}`)
  addThree(new Metrics({ showsHidden: true, disabled: new Set(['young_total']) }, log))
  assert.deepEqual(logged, [
    'warn Hidden metrics (old_total) have been manually overridden, showing this very deprecated metric.',
  ])
  logged.length = 0
  addThree(new Metrics({}, log))
  assert.deepEqual(logged, [])
})

test('printing metrics in several ticks of the event loop returns the same text as printing them in one tick', async () => {
  const metrics = new Metrics()
  const seconds = metrics.histogram({ name: 's', help: 'S.', labels: ['a'] }, [1, 2, 3])
  for (let at = 0; at < 1_234; at++) seconds.with(`${at}`).observe(at)
  assert.equal(Buffer.concat(await metrics.printInTurns()).toString(), metrics.print())
  assert.ok((await metrics.printInTurns()).length > 20)
})

test('metric values that take a long time to read do not block the event loop', async () => {
  const metrics = new Metrics()
  const gauge = metrics.gauge({ name: 'steps', help: 'Steps.' }).with()
  metrics.onPrintInTurns(function* () {
    gauge.value = 0
    for (let step = 0; step < 10; step++) {
      const endMs = performance.now() + 3
      while (performance.now() < endMs);
      gauge.value++
      yield
    }
  })
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const printed = Buffer.concat(await metrics.printInTurns()).toString()
  isOver = true
  assert.match(printed, /^steps 10$/m)
  assert.ok(turns >= 5, `${turns} turns`)
  assert.match(metrics.print(), /^steps 10$/m)
})
