/**
 * Checks who imports whom in src/: folders only along the table below (docs/ARCHITECTURE.md has the picture), files never in
 * a circle, type imports included. Prints every fault and exits 1 if there is one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const src = join(import.meta.dirname, '..', 'src')

/** What each part may import besides itself, `api` and `lib`. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  api: [],
  etcd: ['http2'],
  cel: [],
  schema: ['cel'],
  codec: ['schema'],
  apply: ['codec', 'schema'],
  patch: ['codec', 'schema'],
  config: ['codec', 'schema', 'cel', 'egress', 'webhooks'],
  registry: ['codec', 'schema', 'cel'],
  storage: ['codec', 'etcd'],
  cache: ['codec', 'storage'],
  flow: ['cache', 'storage'],
  rbac: ['codec', 'schema', 'cache', 'storage'],
  authentication: ['codec', 'cel', 'config', 'webhooks', 'etcd'],
  authorization: ['cel', 'config', 'rbac', 'registry', 'cache', 'storage', 'webhooks'],
  gate: ['codec', 'cel', 'registry', 'cache', 'authentication', 'authorization'],
  audit: ['codec', 'config', 'webhooks'],
  discovery: ['codec', 'registry', 'schema'],
  admission: [
    'codec',
    'config',
    'cel',
    'schema',
    'apply',
    'patch',
    'registry',
    'cache',
    'storage',
    'authorization',
    'webhooks',
  ],
  allocators: ['codec', 'schema', 'registry', 'storage'],
  aggregation: ['cache', 'controllers', 'http2', 'storage', 'webhooks'],
  controllers: ['codec', 'schema', 'rbac', 'registry', 'admission', 'cache'],
  webhooks: ['codec', 'schema', 'http2'],
  verbs: [
    'codec',
    'schema',
    'apply',
    'patch',
    'registry',
    'admission',
    'cache',
    'storage',
    'webhooks',
  ],
  http2: [],
  http: ['codec', 'http2'],
  tracing: ['codec', 'config', 'etcd', 'storage'],
  egress: ['etcd', 'http2'],
  profiles: ['codec'],
  'slow-requests.ts': [],
  'error-response.ts': ['discovery'],
  'until-known.ts': ['error-response.ts', 'gate'],
  'handle.ts': [
    'aggregation',
    'error-response.ts',
    'slow-requests.ts',
    'audit',
    'flow',
    'tracing',
    'gate',
    'discovery',
    'dispatch.ts',
  ],
  'definitions.ts': ['cel', 'controllers', 'registry', 'cache', 'storage', 'verbs'],
  'accounts.ts': ['admission', 'authentication', 'config', 'verbs'],
  'authenticators.ts': [
    'accounts.ts',
    'admission',
    'authentication',
    'config',
    'jwt-issuers.ts',
    'webhooks',
  ],
  'jwt-issuers.ts': ['authentication', 'cel', 'config', 'reload-metrics.ts'],
  'reload-metrics.ts': ['config'],
  'overrides.ts': ['cache', 'config', 'discovery', 'registry', 'storage'],
  'open-storage.ts': [
    'cache',
    'config',
    'controllers',
    'encryption.ts',
    'overrides.ts',
    'storage',
    'tracing',
  ],
  'encryption.ts': ['config', 'discovery', 'registry', 'reload-metrics.ts', 'storage'],
  'issuance-metrics.ts': [],
  'remote-documents.ts': ['aggregation', 'discovery'],
  'resource-access.ts': [
    'admission',
    'cache',
    'cel',
    'codec',
    'config',
    'gate',
    'registry',
    'storage',
    'verbs',
    'webhooks',
  ],
  'reload.ts': ['aggregation', 'authentication', 'config', 'http'],
  'dispatch.ts': ['cache', 'registry', 'verbs', 'resource-access.ts'],
  'stop-all.ts': ['http'],
  'admission-chain.ts': ['admission', 'authorization', 'config', 'registry', 'webhooks'],
  'allocation.ts': ['allocators', 'cache', 'config', 'registry', 'resource-access.ts', 'storage'],
  'authorizers.ts': [
    'authorization',
    'config',
    'rbac',
    'registry',
    'reload-metrics.ts',
    'resource-access.ts',
  ],
  'followed-writes.ts': ['admission', 'rbac', 'registry', 'resource-access.ts', 'storage', 'verbs'],
  'policies.ts': ['admission', 'config', 'registry', 'resource-access.ts'],
  'write-permissions.ts': ['authorization', 'rbac', 'verbs'],
  'control-plane.ts': ['*'],
  'account-issuer.ts': ['authentication', 'config', 'discovery'],
  'cluster-objects.ts': ['config', 'control-plane.ts', 'controllers', 'rbac'],
  'loops.ts': ['aggregation', 'cluster-objects.ts', 'config', 'control-plane.ts', 'controllers'],
  'server.ts': ['*'],
  dev: ['codec', 'config', 'server.ts', 'storage'],
  testing: ['apply', 'config', 'discovery', 'gate', 'handle.ts', 'http', 'server.ts', 'storage'],
  assets: [],
  commands: [
    'assets',
    'config',
    'dev',
    'encryption.ts',
    'server.ts',
    'storage',
    'testing',
    'webhooks',
  ],
  'main.ts': ['commands'],
  'packaged-main.ts': [],
  'packaged-testing.ts': ['testing'],
  'sea-main.ts': ['assets'],
}
/** These do not get `api` and `lib` for free. */
const closed: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  etcd: ['lib'],
  http2: ['lib'],
  api: ['lib'],
}

const partOf = (file: string): string => file.split('/')[0] ?? file

function mayImport(from: string, to: string): boolean {
  if (from === to) return true
  const own = allowed[from]
  if (own === undefined) return false
  if (own.includes('*'))
    return (
      to !== 'main.ts' &&
      to !== 'dev' &&
      to !== 'testing' &&
      !(from === 'control-plane.ts' && to === 'server.ts')
    )
  const free = closed[from] ?? ['api', 'lib']
  return own.includes(to) || free.includes(to)
}

const specifier =
  /^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  const found = [...text.matchAll(specifier)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
  return found
    .filter((to) => to.startsWith('.'))
    .map((to) => relative(src, join(src, dirname(file), to)))
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
const graph = new Map(files.map((file) => [file, importsOf(file)]))
const faults: string[] = []

for (const [file, imports] of graph) {
  if (file.endsWith('.test.ts')) continue
  for (const to of imports) {
    if (to.startsWith('..')) faults.push(`${file} imports ${to}, which is outside of src`)
    else if (!graph.has(to)) faults.push(`${file} imports ${to}, which is not there`)
    else if (!mayImport(partOf(file), partOf(to))) {
      faults.push(
        `${file} imports ${to}: ${partOf(file)} may not import ${partOf(to)} (test/imports.ts has the table)`,
      )
    }
  }
}

const state = new Map<string, 'open' | 'done'>()
function visit(file: string, way: readonly string[]): void {
  if (state.get(file) === 'done') return
  if (state.get(file) === 'open') {
    faults.push(`a circle: ${[...way.slice(way.indexOf(file)), file].join(' > ')}`)
    return
  }
  state.set(file, 'open')
  for (const to of graph.get(file) ?? []) visit(to, [...way, file])
  state.set(file, 'done')
}
for (const file of files) visit(file, [])

for (const fault of faults) console.error(fault)
console.log(`imports: ${files.length} files, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0
