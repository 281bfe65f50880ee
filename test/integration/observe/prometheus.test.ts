/**
 * Tests that a real Prometheus, which scrapes a Keelson server under load, has values for every
 * expression of docs/dashboards and of kube-prometheus. First run `test/support/tools/install
 * prometheus`. alerts.test.ts tests when alerts fire.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseYaml } from '../../../src/objects/codec/yaml-parse.ts'
import { type Client, createClient } from '../../recorded/compat/client.ts'
import { freePorts, startEtcd, toolPath } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { until } from '../../support/harness/until.ts'
import { kubePrometheusQueries } from './kube-prometheus.ts'

const dashboards = join(import.meta.dirname, '..', '..', '..', 'docs', 'dashboards')
const rulesFile = join(dashboards, 'rules.yaml')
const folder = mkdtempSync(join(tmpdir(), 'keelson-prometheus-'))
const stack = new AsyncDisposableStack()
let prometheusUrl = ''

before(
  async () => {
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const etcd = stack.use(await startEtcd())
    const server = stack.use(
      await startKeelson({ etcdUrl: etcd.clientUrl, args: ['--controllers=*'] }),
    )
    const client = stack.use(createClient({ server: server.url, token: server.token }))
    const stranger = stack.use(createClient({ server: server.url, token: 'bob-token' }))
    prometheusUrl = await startPrometheus(server)
    stack.use(keepAsking(client, stranger))
    await until(
      async () => (await query('sum(rate(apiserver_request_total[5m]))')).length > 0,
      'two scrapes',
    )
    await until(
      async () => (await query('keelson:objective_missed:ratio_rate1h')).length > 0,
      'evaluated rules',
    )
  },
  { timeout: 240_000 },
)

after(() => stack.disposeAsync())

async function startPrometheus({
  url,
  token,
}: {
  readonly url: string
  readonly token: string
}): Promise<string> {
  const [port = 0] = await freePorts(1)
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rulesFile],
    scrape_configs: [
      {
        job_name: 'apiserver',
        scheme: 'https',
        tls_config: { insecure_skip_verify: true },
        authorization: { credentials: token },
        static_configs: [{ targets: [new URL(url).host] }],
      },
    ],
  }
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, JSON.stringify(config))
  const address = `127.0.0.1:${port}`
  const child = spawn(
    toolPath('prometheus'),
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  )
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  stack.defer(async () => {
    process.off('exit', end)
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  })
  await until(async () => {
    const answer = await fetch(`http://${address}/-/ready`).catch(() => undefined)
    return answer?.status === 200
  }, 'Prometheus')
  return `http://${address}`
}

/**
 * Sends reads, writes, watches, and requests that are rejected or time out. Stops when the returned
 * value is disposed of.
 */
function keepAsking(client: Client, stranger: Client): Disposable {
  let isOver = false
  const maps = '/api/v1/namespaces/default/configmaps'
  const ask = (method: string, path: string, body?: object): Promise<unknown> =>
    client.request({
      method,
      path,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
  const round = async (at: number): Promise<void> => {
    const name = `m${at % 20}`
    await ask('POST', maps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { at: `${at}` },
    })
    await ask('PUT', `${maps}/${name}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { at: `${at}x` },
    })
    await ask('GET', `${maps}/${name}`)
    await ask('GET', maps)
    await ask('GET', '/api/v1/configmaps')
    await ask('GET', `${maps}?timeout=1us`)
    await ask('GET', '/api/v1/endpoints')
    await ask('DELETE', `${maps}/${name}`)
    await stranger.request({ method: 'GET', path: '/api/v1/secrets' })
  }
  const run = async (): Promise<void> => {
    for (let at = 0; !isOver; at++) await round(at).catch(() => undefined)
  }
  const watch = async (): Promise<void> => {
    while (!isOver) await ask('GET', `${maps}?watch=true&timeoutSeconds=3`).catch(() => undefined)
  }
  void run()
  void watch()
  return {
    [Symbol.dispose]: () => {
      isOver = true
    },
  }
}

async function query(expr: string): Promise<readonly unknown[]> {
  const answer = await fetch(`${prometheusUrl}/api/v1/query`, {
    method: 'POST',
    body: new URLSearchParams({ query: expr }),
  })
  const { data, error }: { data?: { result: readonly unknown[] }; error?: string } = JSON.parse(
    await answer.text(),
  )
  assert.equal(error, undefined, `${expr}: ${error}`)
  return data?.result ?? []
}

const hasValues = async (expr: string): Promise<void> => {
  await until(async () => (await query(expr)).length > 0, `a value of ${expr}`)
}

/** Names of the alerts whose metrics do not exist before the first failure. */
const failuresOnly: readonly string[] = [
  'KeelsonStoreNotWritable',
  'KeelsonKmsFails',
  'KeelsonAuditEventsLost',
]

test('every recording rule returns values, and so do the expressions that the alerts compare', {
  timeout: 300_000,
}, async () => {
  const { value } = parseYaml(readFileSync(rulesFile))
  const groups: readonly { rules: readonly { record?: string; alert?: string; expr: string }[] }[] =
    JSON.parse(JSON.stringify(value)).groups
  for (const { record, alert = '', expr } of groups.flatMap(({ rules }) => rules)) {
    if (record !== undefined) await hasValues(record)
    if (failuresOnly.includes(alert)) continue
    // Query the parts of the expression, because an alert has a value only while it fires. The
    // parts that it compares always have values.
    const parts =
      record === undefined
        ? expr.split(' and ').map((part) => part.replace(/ (?:>|<|==) .*$/s, ''))
        : [expr]
    for (const part of parts) await hasValues(part)
  }
})

test('every panel of the dashboard shows values', { timeout: 300_000 }, async () => {
  const { panels }: { panels: readonly { targets?: readonly { expr: string }[] }[] } = JSON.parse(
    readFileSync(join(dashboards, 'keelson.json'), 'utf8'),
  )
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  assert.ok(queries.length > 20)
  for (const expr of queries)
    await hasValues(expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'))
})

test('the expressions of kube-prometheus return values for Keelson', {
  timeout: 300_000,
}, async () => {
  for (const expr of kubePrometheusQueries) await hasValues(expr)
})
