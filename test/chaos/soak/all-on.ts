/**
 * Configures a server with every feature that observes or limits requests: an audit log of all
 * requests, RBAC for a user who is not an administrator, flow control (always on), and traces of
 * one percent of the requests.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Receiver, startReceiver } from '../../integration/observe/receiver.ts'
import type { SoakClient } from './client.ts'

/**
 * Token of the user alice. A role grants alice all permissions, but flow control applies to alice's
 * requests.
 */
export const LIMITED_TOKEN = 'alice-token'
/** Sampling rate of traces: one percent of the requests. */
const SAMPLED_PER_MILLION = 10_000

const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }

export class AllOn implements AsyncDisposable {
  readonly flags: readonly string[]
  readonly #folder: string
  readonly #receiver: Receiver

  private constructor(folder: string, receiver: Receiver) {
    this.#folder = folder
    this.#receiver = receiver
    this.flags = [
      `--audit-policy-file=${join(folder, 'policy.json')}`,
      `--audit-log-path=${join(folder, 'audit.log')}`,
      '--audit-log-mode=batch',
      '--audit-log-maxsize=100',
      `--tracing-config-file=${join(folder, 'tracing.yaml')}`,
    ]
  }

  static async start(): Promise<AllOn> {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-all-on-'))
    const receiver = await startReceiver()
    await writeFile(join(folder, 'policy.json'), JSON.stringify(policy))
    const tracing = {
      apiVersion: 'apiserver.config.k8s.io/v1beta1',
      kind: 'TracingConfiguration',
      endpoint: receiver.endpoint,
      samplingRatePerMillion: SAMPLED_PER_MILLION,
    }
    await writeFile(join(folder, 'tracing.yaml'), JSON.stringify(tracing))
    return new AllOn(folder, receiver)
  }

  /** Grants all permissions to the user alice. */
  async allow(admin: SoakClient): Promise<void> {
    const { status } = await admin.call(
      'POST',
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
      {
        metadata: { name: 'all-on' },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'cluster-admin',
        },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
      },
    )
    if (status !== 201) throw new Error(`the ClusterRoleBinding could not be created: ${status}`)
  }

  /** Returns the number of audit events for completed writes, and the number of received spans. */
  recorded(): { readonly audited: number; readonly spans: number } {
    const logs = readdirSync(this.#folder).filter((name) => name.startsWith('audit'))
    const answered = /"stage":"ResponseComplete".*"verb":"(create|update|delete)"/g
    const audited = logs
      .map((name) => readFileSync(join(this.#folder, name), 'latin1').match(answered)?.length ?? 0)
      .reduce((sum, count) => sum + count, 0)
    return { audited, spans: this.#receiver.spans.length }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
