/**
 * Tests the commands of docs/access.md that need an OpenID issuer, and that the audit policy of the
 * page does not record credentials. `docs-commands.test.ts` runs the other commands of the page.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Companions } from '../recorded/compat/companions.ts'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { startEtcd, toolPath } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'access.md'), 'utf8')

/** Returns the fenced code blocks of a section that have the given language. */
function blocksOf(title: string, language: string): string[] {
  const [, section = ''] = page.split(`\n## ${title}\n`)
  const [own = ''] = section.split('\n## ')
  const fence = new RegExp(`^\`\`\`${language}\\b[^\\n]*\\n(.*?)^\`\`\`$`, 'gms')
  const blocks = [...own.matchAll(fence)].map(([, text = '']) => text)
  return blocks.length > 0
    ? blocks
    : assert.fail(`docs/access.md has no ${language} under ${title}`)
}

const parts = new AsyncDisposableStack()
const [authentication = ''] = blocksOf('Sign in with OpenID Connect', 'yaml')
const [issuerCommands = ''] = blocksOf('Sign in with OpenID Connect', 'sh')
const [auditPolicy = ''] = blocksOf('Audit', 'yaml')
let companions: Companions
let server: ApiServerProcess
let dir: string

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-access-'))
  parts.defer(() => rm(dir, { recursive: true, force: true }))
  const etcd = parts.use(await startEtcd())
  companions = parts.use(await Companions.start({ flags: [], issuers: { login: {} } }))
  const ca = Buffer.from(companions.hooks.caBundle, 'base64').toString()
  const issuer = `${companions.hooks.url}/issuer/login, certificateAuthority: ${JSON.stringify(ca)}`
  assert.ok(authentication.includes('https://login.example.com'))
  const config = authentication.replace('https://login.example.com', issuer)
  server = parts.use(
    await startKeelson({
      etcdUrl: etcd.clientUrl,
      prepare: async (folder) => {
        await companions.writeFiles(folder, [])
        writeFileSync(join(folder, 'authentication.yaml'), config)
        writeFileSync(join(folder, 'audit.yaml'), auditPolicy)
        return [
          `--authentication-config=${join(folder, 'authentication.yaml')}`,
          `--audit-policy-file=${join(folder, 'audit.yaml')}`,
          `--audit-log-path=${join(dir, 'audit.log')}`,
        ]
      },
    }),
  )
})

after(() => parts.disposeAsync())

/**
 * Runs a script with an administrator's kubeconfig. The `--token` flag of a command overrides the
 * credentials of the kubeconfig.
 */
async function run(script: string, more: NodeJS.ProcessEnv = {}): Promise<string> {
  const kubeconfig = join(dir, 'kubeconfig')
  const cluster = { server: server.url, 'insecure-skip-tls-verify': true }
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'admin', user: { token: server.token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'admin' } }],
      'current-context': 'x',
    }),
  )
  const env = {
    ...process.env,
    ...more,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(dir, 'cache'),
    PATH: `${dirname(toolPath('kubectl'))}:${process.env['PATH'] ?? ''}`,
  }
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], { env, cwd: dir })
  return stdout
}

test('a user of an OpenID issuer can be authenticated with a configuration of about ten lines', {
  timeout: 300_000,
}, async () => {
  assert.ok(authentication.trimEnd().split('\n').length <= 11, authentication)
  const claims = { aud: 'kubernetes', email: 'ann@example.com', groups: ['everybody'] }
  const TOKEN = companions.token({ issuer: 'login', claims }, 'ann')
  const printed = await run(issuerCommands, { TOKEN })
  assert.match(printed, /Username +ann@example\.com/)
  assert.match(printed, /oidc:everybody/)
  const system = companions.token(
    { issuer: 'login', claims: { ...claims, email: 'system:admin' } },
    'ann',
  )
  await assert.rejects(run('kubectl auth whoami --token=$TOKEN', { TOKEN: system }), /Unauthorized/)
})

test('the audit policy in docs/access.md records request bodies, but not credentials', {
  timeout: 300_000,
}, async () => {
  const create = (object: object): Promise<string> =>
    run(`echo '${JSON.stringify(object)}' | kubectl create -f -`)
  await create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'plain' },
    data: { a: 'recorded' },
  })
  await create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    stringData: { a: 'hidden-in-secret' },
  })
  await run('kubectl create serviceaccount reviewed')
  const token = (await run('kubectl create token reviewed')).trim()
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
  await run(`echo '${JSON.stringify(review)}' | kubectl create --raw ${reviews} -f -`)
  const events = readFileSync(join(dir, 'audit.log'), 'utf8')
  assert.match(events, /"data":\{"a":"recorded"\}/)
  assert.ok(events.includes(`"requestURI":"${reviews}`))
  for (const secret of [
    'hidden-in-secret',
    Buffer.from('hidden-in-secret').toString('base64'),
    token,
  ]) {
    assert.ok(!events.includes(secret), 'a credential is recorded')
  }
})
