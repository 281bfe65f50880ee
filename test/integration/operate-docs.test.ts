/**
 * Tests procedures of docs/operate.md that docs-commands.test.ts cannot run or cannot check. Also
 * checks that a test runs each command of the page.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { checkArgs } from '../../src/config/config.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { realEnvironment } from '../../src/server/environment.ts'
import { startServer } from '../../src/server/server.ts'
import { startEtcd, toolPath } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { bashBlocks, readBlocks } from '../support/harness/markdown-commands.ts'
import { until } from '../support/harness/until.ts'
import { type Answer, clients, startOn } from './support.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'operate.md'), 'utf8')
const COMMAND_MS_MAX = 300_000
const DAY_MS = 86_400_000

/**
 * Maps a text in each block marked `bash` to the test file that runs this block. The test file must
 * also contain the text.
 */
const testFiles = {
  'snapshot save': 'etcd-snapshot.test.ts',
  'snapshot restore': 'etcd-snapshot.test.ts',
  'systemctl enable --now keelson': 'service-unit.test.ts',
  'podman run --detach': 'container.test.ts',
  'podman cp': 'container.test.ts',
  'podman run --health-cmd': 'container.test.ts',
  'helm install': 'platform-chart.test.ts',
}

test('a test runs each command of docs/operate.md', () => {
  const left = bashBlocks(page)
  for (const [text, file] of Object.entries(testFiles)) {
    const at = left.findIndex((block) => block.includes(text))
    assert.notEqual(at, -1, text)
    left.splice(at, 1)
    assert.ok(readFileSync(join(import.meta.dirname, file), 'utf8').includes(text), text)
  }
  assert.deepEqual(left, [])
  const languages = [...page.matchAll(/^ *```(\w+)/gm)].map(([, language = '']) => language)
  // No other test is needed for blocks marked `sh`. docs-commands.test.ts runs them, and compares
  // their output with the blocks marked `text`.
  assert.deepEqual(
    [...new Set(languages)].filter((language) => !['sh', 'text', 'bash'].includes(language)),
    ['crontab'],
  )
})

/** Messages in docs/operate.md that etcd and OpenSSL print. */
const othersMessages = ['etcdserver: mvcc: database space exceeded', 'certificate has expired']

test('the source code contains each message that docs/operate.md quotes under "Handle failures"', () => {
  const [, failures = ''] = /^## Handle failures$(.*?)^## /ms.exec(page) ?? []
  const quoted = [...failures.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
  // Keep only the quoted messages. They have several words, and do not begin with the name of a
  // program.
  const messages = quoted.filter(
    (text) => text.includes(' ') && !/^(?:kubectl|etcdctl|keelson) /.test(text),
  )
  assert.ok(messages.length > 15, messages.join('\n'))
  const sources = globSync('src/**/*.ts', { cwd: root }).map((path) =>
    readFileSync(join(root, path), 'utf8'),
  )
  const isThere = (part: string): boolean => sources.some((source) => source.includes(part))
  const missing = messages.filter(
    (text) => !othersMessages.includes(text) && !text.split(/ ?… ?/).every((part) => isThere(part)),
  )
  assert.deepEqual(missing, [])
})

/** Returns the only file or block of commands in docs/operate.md that contains a text. */
function blockWith(text: string): string {
  const [found, ...others] = readBlocks(page).filter((block) => block.text.includes(text))
  assert.ok(found !== undefined && others.length === 0, text)
  return found.text
}

test('the scheduled backup deletes only old files, and nothing if the export fails', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-backup-'))
  try {
    const [, path = '', command = ''] =
      /^```crontab\nPATH=(.*)\n17(?: \*){4} root (.*)\n```$/m.exec(page) ?? []
    mkdirSync(join(dir, 'bin'))
    symlinkSync(keelsonProgram, join(dir, 'bin', 'keelson'))
    symlinkSync(process.execPath, join(dir, 'bin', 'node'))
    writeFileSync(join(dir, 'backup.sh'), blockWith('Usage: backup.sh'))
    const placed = command
      .replace('/usr/local/lib/keelson', dir)
      .replace('/var/backups/keelson', join(dir, 'backups'))
      .replace('/var/lib/keelson', dir)
    // Set only a few environment variables, as cron does.
    const env = { PATH: path.replace('/usr/local/bin', join(dir, 'bin')), HOME: dir }
    const backUp = () => run('sh', ['-c', placed], { env, timeout: COMMAND_MS_MAX })
    const backups = join(dir, 'backups')
    mkdirSync(backups)
    for (const [name, days] of [
      ['old.jsonl', 15.1],
      ['recent.jsonl', 13.9],
    ] as const) {
      writeFileSync(join(backups, name), '')
      utimesSync(join(backups, name), new Date(), new Date(Date.now() - days * DAY_MS))
    }
    await assert.rejects(backUp, /store/)
    assert.deepEqual(readdirSync(backups), ['old.jsonl', 'recent.jsonl'])

    await createStore(dir)
    await backUp()
    const [made = '', ...others] = readdirSync(backups).toSorted()
    assert.match(made, /^\d{8}T\d{6}Z\.jsonl$/)
    assert.deepEqual(others, ['recent.jsonl'])
    const check = ['store', 'import', `--data-dir=${join(dir, 'copy')}`]
    await run(keelsonProgram, [...check, `--file=${join(backups, made)}`])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

/** Creates the data folder `store` by starting and stopping a server. */
async function createStore(dir: string): Promise<void> {
  const flags = [`--data-dir=${join(dir, 'store')}`, `--cert-dir=${dir}`]
  const checked = checkArgs([...flags, '--bind-address=127.0.0.1'])
  assert.ok(checked.kind === 'config')
  const config = { ...checked.config, network: { ...checked.config.network, port: 0 } }
  const server = await startServer(config, realEnvironment(silent))
  await server.stop()
}

const largeObject = (count: number): object => ({
  metadata: { name: 'large' },
  data: { text: 'x'.repeat(800_000), count: `${count}` },
})

test('a full etcd accepts writes again after the commands in docs/operate.md', async () => {
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', `${16 << 20}`] })
  await using server = await startOn(etcd, [])
  await using client = clients['HTTP/2']?.(server.url)
  assert.ok(client)
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const made = await client.call({ method: 'POST', path: configMaps, body: largeObject(0) })
  assert.equal(made.status, 201)
  const replace = (count: number): Promise<Answer> =>
    client.call({ method: 'PUT', path: `${configMaps}/large`, body: largeObject(count) })
  let count = 0
  await until(async () => {
    const { status, text } = await replace(++count)
    if (status === 200) return false
    assert.match(text, /etcdserver: mvcc: database space exceeded/)
    return true
  }, 'etcd is full')

  const commands = blockWith('etcdctl defrag').replace('http://127.0.0.1:2379', etcd.clientUrl)
  const env = { ...process.env, PATH: `${dirname(toolPath('etcdctl'))}:${process.env['PATH']}` }
  await run('sh', ['-euc', commands], { env, timeout: COMMAND_MS_MAX })
  assert.equal((await replace(count)).status, 200)
})
