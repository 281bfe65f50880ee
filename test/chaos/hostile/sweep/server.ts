/**
 * Runs the server under test in its own process, with RBAC, all controllers, audit logging and flow
 * control, and with a built-in probe.
 */
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMiB } from '../../../../bench/server/process-usage.ts'
import { planMemory } from '../../../../src/lib/process/memory-plan.ts'
import { type ApiServerProcess, startApiServer } from '../../../support/harness/api-server.ts'
import { keelsonProgram } from '../../../support/harness/keelson.ts'
import { Bystander, type Latencies } from './bystander.ts'
import { Client } from './client.ts'
import { definitions } from './custom.ts'
import type { Target } from './fields.ts'
import { NAMESPACE } from './paths.ts'

/** User with access to one ConfigMap in another namespace. */
const BYSTANDER = 'bystander'
/** User who has only the permissions that all users have. */
export const NOBODY = 'nobody'
const QUIET = 'quiet'

export type Ticks = {
  readonly isIdle: boolean
  readonly cpuMs: number
  readonly tickMs: number
  readonly collectedMs: number
  readonly longest: readonly number[]
  readonly collectionMsMax: number
  readonly profile?: {
    readonly samples: number
    readonly path: readonly string[]
    readonly own: readonly string[]
  }
}

export type SweepMeasurement = Ticks & {
  readonly peakMiB: number
  readonly residentMiB: number
  readonly bystander: Latencies
}

export type SweptServerOptions = {
  readonly targets: readonly Target[]
  readonly etcdUrl?: string
  readonly memoryMiB?: number | undefined
}

/**
 * Returns the token with which requests for a resource are sent. Each resource has a user who has
 * access to this resource only.
 */
export const tokenOf = ({ part, kind, group, plural }: Target): string =>
  kind.startsWith('Self') ? NOBODY : `u-${plural}.${group}${part === undefined ? '' : `-${part}`}`

export class SweptServer implements AsyncDisposable {
  readonly client: Client
  readonly #server: ApiServerProcess
  readonly #probe: Socket
  readonly #lines: AsyncIterator<string>
  readonly #bystander: Bystander
  readonly #cgroup: string | undefined

  private constructor(parts: {
    readonly server: ApiServerProcess
    readonly client: Client
    readonly probe: Socket
    readonly bystander: Bystander
    readonly cgroup: string | undefined
  }) {
    this.client = parts.client
    this.#server = parts.server
    this.#probe = parts.probe
    this.#lines = createInterface({ input: parts.probe })[Symbol.asyncIterator]()
    this.#bystander = parts.bystander
    this.#cgroup = parts.cgroup
  }

  static async start({ targets, etcdUrl, memoryMiB }: SweptServerOptions): Promise<SweptServer> {
    const socketPath = join('/tmp', `keelson-sweep-${process.pid}-${Date.now()}.sock`)
    const options = [`--import=${join(import.meta.dirname, 'probe.js')}`]
    const flags: string[] = []
    if (memoryMiB !== undefined) {
      const plan = planMemory({
        requestBytesMax: null,
        cacheBytesMax: null,
        totalBytes: totalmem(),
        constrainedBytes: memoryMiB << 20,
        heapBytes: 0,
        filesMax: Infinity,
      })
      flags.push(
        `--request-memory-max=${plan.requestBytes}`,
        `--cache-memory-max=${plan.cacheBytes}`,
      )
    }
    const cgroup = memoryMiB === undefined ? undefined : makeCgroup(memoryMiB)
    // In a cgroup with a memory limit, Node.js limits its heap itself. Without a cgroup, a flag
    // limits the heap. With a cgroup, the flag is not set, because it would also raise the lower
    // limit of the thread that parses YAML.
    if (memoryMiB !== undefined && cgroup === undefined)
      options.push(`--max-old-space-size=${memoryMiB / 2}`)
    process.env['KEELSON_SWEEP_PROBE'] = socketPath
    process.env['NODE_OPTIONS'] = options.join(' ')
    if (etcdUrl === undefined) process.env['KEELSON_STORE'] = 'memory'
    const server = await startApiServer(commandIn(cgroup), {
      etcdUrl: etcdUrl ?? '',
      omit: ['token-auth-file'],
      prepare: (dir) => writeFiles(dir, targets),
      args: [
        '--controllers=*',
        '--runtime-config=api/all=true',
        '--feature-gates=CBORServingAndStorage=true',
        ...flags,
      ],
    })
    process.env['NODE_OPTIONS'] = ''
    const probe = connect(socketPath)
    await once(probe, 'connect')
    probe.on('error', () => undefined)
    const client = new Client(server.url)
    await prepare(client, server.token, targets)
    const path = `/api/v1/namespaces/${QUIET}/configmaps/small`
    const bystander = await Bystander.start({
      url: server.url,
      token: BYSTANDER,
      path,
      pid: server.pid,
    })
    return new SweptServer({ server, client, probe, bystander, cgroup })
  }

  /** Whether the kernel limits the memory of the server. */
  get isConfined(): boolean {
    return this.#cgroup !== undefined
  }

  get pid(): number {
    return this.#server.pid
  }

  get log(): string {
    return this.#server.log
  }

  get adminToken(): string {
    return this.#server.token
  }

  /** Runs the work and measures the server. Returns undefined if the server died. */
  async measure(
    work: () => Promise<void>,
    hasProfile = false,
  ): Promise<SweepMeasurement | undefined> {
    try {
      return await this.#measure(work, hasProfile)
    } catch (error) {
      if (isRunning(this.pid)) throw error
      return undefined
    }
  }

  async #measure(
    work: () => Promise<void>,
    hasProfile: boolean,
  ): Promise<SweepMeasurement | undefined> {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5')
    if ((await this.#ask(hasProfile ? 'begin profile' : 'begin')) === undefined) return undefined
    // Discard the latencies measured so far, because starting a profile blocks the server for about
    // 300 ms.
    await this.#bystander.latencies()
    await work()
    const bystander = await this.#bystander.latencies()
    const text = await this.#ask('end')
    if (text === undefined) return undefined
    const ticks: Ticks = JSON.parse(text)
    const [peakMiB, nowMiB] = [residentMiB(this.pid, 'peak'), residentMiB(this.pid)]
    return { ...ticks, peakMiB, residentMiB: nowMiB, bystander }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bystander[Symbol.asyncDispose]()
    this.client[Symbol.dispose]()
    this.#probe.destroy()
    await this.#server.stop()
    if (this.#cgroup !== undefined) rmdirSync(this.#cgroup)
  }

  async #ask(question: string): Promise<string | undefined> {
    this.#probe.write(`${question}\n`)
    const { done, value } = await this.#lines.next()
    return done === true ? undefined : value
  }
}

/**
 * Whether a process is running. A process that has exited stays in the process table until its
 * parent reads the exit status.
 */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Creates a memory cgroup with a limit. Returns undefined if this is not possible. */
function makeCgroup(mebibytes: number): string | undefined {
  const path = `/sys/fs/cgroup/memory/keelson-sweep-${process.pid}-${Date.now()}`
  try {
    mkdirSync(path)
    writeFileSync(join(path, 'memory.limit_in_bytes'), `${mebibytes << 20}`)
    return path
  } catch (error) {
    console.log(`cannot create a memory cgroup; checking resident memory instead: ${String(error)}`)
    return undefined
  }
}

/**
 * Returns the command that starts the server. If there is a cgroup, a shell joins the cgroup and
 * then becomes the server, so that all memory of the server counts.
 */
function commandIn(cgroup: string | undefined): readonly [string, ...string[]] {
  if (cgroup === undefined) return [keelsonProgram, 'serve']
  return ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup, keelsonProgram, 'serve']
}

async function writeFiles(dir: string, targets: readonly Target[]): Promise<string[]> {
  const users = new Set([BYSTANDER, NOBODY, ...targets.map((target) => tokenOf(target))])
  const tokens = [
    'admin-token,admin,admin-uid,"system:masters"',
    ...[...users].map((user) => `${user},${user},${user}`),
  ]
  await writeFile(join(dir, 'users.csv'), `${tokens.join('\n')}\n`, { mode: 0o600 })
  const rules = [{ level: 'RequestResponse' }]
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }
  await writeFile(join(dir, 'audit-policy.json'), JSON.stringify(policy))
  return [
    `--token-auth-file=${join(dir, 'users.csv')}`,
    `--audit-policy-file=${join(dir, 'audit-policy.json')}`,
    `--audit-log-path=${join(dir, 'audit.log')}`,
    '--audit-log-maxsize=100',
    '--audit-log-maxbackup=1',
  ]
}

const rbac = 'rbac.authorization.k8s.io'
const granting = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']
/**
 * Verbs that a typical role grants. Verbs that allow users to grant permissions that they do not
 * have, such as `escalate`, are left out.
 */
const usualVerbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]

async function prepare(client: Client, token: string, targets: readonly Target[]): Promise<void> {
  const post = async (path: string, object: object): Promise<void> => {
    const { status, text } = await client.send({
      method: 'POST',
      path,
      token,
      type: 'application/json',
      body: JSON.stringify(object),
    })
    if (status !== 201 && status !== 409)
      throw new Error(`POST ${path}: ${status} ${text.slice(0, 500)}`)
  }
  for (const name of [NAMESPACE, QUIET]) await post('/api/v1/namespaces', { metadata: { name } })
  await post(`/api/v1/namespaces/${QUIET}/configmaps`, {
    metadata: { name: 'small' },
    data: { a: 'b' },
  })
  const grant = async (
    user: string,
    rules: readonly object[],
    namespace: string | undefined,
  ): Promise<void> => {
    const name = `sweep-${user}`
    await post(`/apis/${rbac}/v1/clusterroles`, { metadata: { name }, rules })
    const place =
      namespace === undefined ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`
    await post(`/apis/${rbac}/v1/${place}`, {
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    })
  }
  await grant(BYSTANDER, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }], QUIET)
  for (const target of new Map(targets.map((one) => [tokenOf(one), one])).values()) {
    const user = tokenOf(target)
    if (user === NOBODY) continue
    const { group, plural, isNamespaced, part } = target
    const resources =
      part === undefined
        ? [plural, `${plural}/*`]
        : part === 'delete'
          ? [plural]
          : [`${plural}/${part}`]
    const all = { apiGroups: ['*'], resources: ['*'], verbs: usualVerbs }
    const rules = [
      { apiGroups: [group], resources, verbs: usualVerbs },
      ...(granting.includes(plural) ? [all] : []),
    ]
    const isCluster = !isNamespaced
    await grant(user, rules, isCluster ? undefined : NAMESPACE)
  }
  for (const one of definitions)
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', one)
  await presets(post)
  await sleep(500)
}

/**
 * Creates objects that make the server run every part of a write: a quota, a limit range, a
 * disruption budget and a policy.
 */
async function presets(post: (path: string, object: object) => Promise<void>): Promise<void> {
  const place = `namespaces/${NAMESPACE}`
  await post(`/api/v1/${place}/resourcequotas`, {
    metadata: { name: 'preset' },
    spec: { hard: { pods: '100000', services: '100000', 'count/configmaps': '100000' } },
  })
  await post(`/api/v1/${place}/limitranges`, {
    metadata: { name: 'preset' },
    spec: { limits: [{ type: 'Container', max: { cpu: '1000' } }] },
  })
  await post(`/apis/policy/v1/${place}/poddisruptionbudgets`, {
    metadata: { name: 'preset' },
    spec: { minAvailable: 0, selector: { matchLabels: { a: 'b' } } },
  })
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic'
  await post(`${policies}ies`, {
    metadata: { name: 'preset' },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['*'],
            apiVersions: ['*'],
            resources: ['*'],
            operations: ['CREATE', 'UPDATE'],
          },
        ],
      },
      validations: [
        {
          expression:
            "!has(object.metadata.labels) || object.metadata.labels.all(k, k != 'forbidden')",
        },
      ],
    },
  })
  await post(`${policies}ybindings`, {
    metadata: { name: 'preset' },
    spec: { policyName: 'preset', validationActions: ['Deny'] },
  })
}
