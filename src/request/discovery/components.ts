/**
 * The ComponentStatuses (`kubectl get componentstatuses`): the health of etcd, and of the
 * controller manager and the scheduler at their usual ports.
 */
import { get } from 'node:https'
import type { KubeObject } from '../../api/object.ts'

/** Timeout of a probe, as in kube-apiserver. */
const PROBE_MS_MAX = 20_000
/** Maximum length of a health response. Real responses are far shorter. */
const ANSWER_BYTES_MAX = 10 << 10

/**
 * Other components of the control plane. As in kube-apiserver, they are probed on the local
 * machine.
 */
const programs = [
  { name: 'controller-manager', port: 10_257 },
  { name: 'scheduler', port: 10_259 },
]

/**
 * The health of an etcd cluster. `fault` is the reason why it is unhealthy, or undefined if it is
 * healthy.
 */
export type EtcdHealth = { readonly servers: readonly string[]; readonly fault: string | undefined }

/**
 * Returns the ComponentStatuses, sorted by name. Each server of an etcd cluster is listed with the
 * health of the whole cluster.
 */
export async function checkComponents(
  etcds: readonly EtcdHealth[],
): Promise<readonly KubeObject[]> {
  const others = programs.map(async ({ name, port }) =>
    statusOf(name, await probe(`127.0.0.1:${port}`)),
  )
  const healths = etcds.flatMap(({ servers, fault }) =>
    servers.map(
      (): Health =>
        fault === undefined
          ? { isHealthy: true, message: 'ok' }
          : { isHealthy: false, error: fault },
    ),
  )
  const stores = healths.map((health, at) => statusOf(`etcd-${at}`, health))
  return [...stores, ...(await Promise.all(others))].toSorted((a, b) =>
    nameOf(a) < nameOf(b) ? -1 : 1,
  )
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

type Health = { readonly isHealthy: boolean; readonly message?: string; readonly error?: string }

const statusOf = (name: string, { isHealthy, ...words }: Health): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ComponentStatus',
  metadata: { name },
  conditions: [{ type: 'Healthy', status: isHealthy ? 'True' : 'False', ...words }],
})

/**
 * Probes a component. Never rejects, because a failure to connect is also a result. The server
 * certificate is not verified, because components create their own certificates.
 */
function probe(address: string): Promise<Health> {
  const url = `https://${address}/healthz`
  return new Promise((resolve) => {
    const fail = (why: string): void => resolve({ isHealthy: false, message: why })
    const options = {
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(PROBE_MS_MAX),
    }
    get(url, options, (response) => {
      const { statusCode = 0 } = response
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text = `${text}${chunk}`.slice(0, ANSWER_BYTES_MAX)
      })
      response.on('error', (error) => fail(`Get "${url}": ${error.message}`))
      response.on('end', () => {
        if (statusCode >= 200 && statusCode < 400) resolve({ isHealthy: true, message: text })
        else fail(`HTTP probe failed with statuscode: ${statusCode}`)
      })
    }).on('error', (error) => fail(`Get "${url}": ${whyNot(error, address)}`))
  })
}

function whyNot(error: Error, address: string): string {
  if ('code' in error && error.code === 'ECONNREFUSED')
    return `dial tcp ${address}: connect: connection refused`
  return error.name === 'AbortError' ? 'context deadline exceeded' : error.message
}
