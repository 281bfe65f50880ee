/**
 * Installs Gatekeeper according to its manifests. One process runs the audit, and another one
 * serves the webhooks through its Service, with certificates that Gatekeeper creates. Their Pods
 * exist only as objects; this file writes the files that a kubelet would mount.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { arrayAt, recordAt } from './fields.ts'
import * as objects from './gatekeeper-objects.ts'
import { type Manifest, moduleDir, readManifests } from './manifests.ts'
import { freePort, type Ref, type Stage } from './stage.ts'

export const NAMESPACE = 'gatekeeper-system'
const SECRET: Ref = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'gatekeeper-webhook-server-cert', namespace: NAMESPACE },
}
/**
 * Timeout of the webhooks: the maximum that Kubernetes allows. On a busy machine, Gatekeeper's
 * default of one second is too short, and its webhooks fail open.
 */
const WEBHOOK_TIMEOUT_S = 30
const AUDIT_INTERVAL_S = 5

export async function installGatekeeper(stage: Stage): Promise<void> {
  const dir = await moduleDir('gatekeeper', 'github.com/open-policy-agent/gatekeeper/v3')
  const manifests = readManifests(
    await readFile(join(dir, 'deploy', 'gatekeeper.yaml'), 'utf8'),
  ).map((manifest) => adapted(manifest, stage.clusterIp))
  // These objects are created before Gatekeeper, so that its audit finds them.
  await stage.install([objects.namespace('found'), objects.configMap('found', 'old')])
  await stage.install(manifests)
  const kubeconfig = await stage.kubeconfigOf(NAMESPACE, 'gatekeeper-admin')
  // Start the webhook process first. It creates the certificate that both processes mount as a
  // volume. In a cluster, the audit process would be restarted until the certificate exists.
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment').toReversed()
  for (const deployment of deployments) await start(stage, deployment, kubeconfig)
}

function adapted(manifest: Manifest, clusterIp: string): Manifest {
  if (manifest.kind === 'Service')
    return { ...manifest, spec: { ...recordAt(manifest, 'spec'), clusterIP: clusterIp } }
  const webhooks = manifest['webhooks']
  if (!Array.isArray(webhooks)) return manifest
  return {
    ...manifest,
    webhooks: webhooks.map((webhook) => ({ ...webhook, timeoutSeconds: WEBHOOK_TIMEOUT_S })),
  }
}

/**
 * Runs the program of a Deployment, with the arguments that the Deployment specifies. Also creates
 * an object for its Pod.
 */
async function start(stage: Stage, deployment: Manifest, kubeconfig: string): Promise<void> {
  const { name = '' } = deployment.metadata
  const podName = `${name}-0`
  await stage.install([podOf(deployment, podName)])
  const isWebhook = name === 'gatekeeper-controller-manager'
  const certDir = join(stage.dir, 'certs')
  await mkdir(certDir, { recursive: true })
  const auditDir = join(stage.dir, 'audit')
  await mkdir(auditDir, { recursive: true })
  const [health, metrics] = [await freePort(), await freePort()]
  const given = arrayAt(deployment, 'spec', 'template', 'spec', 'containers', 0, 'args').map(String)
  const args = [
    ...given,
    `--kubeconfig=${kubeconfig}`,
    `--cert-dir=${certDir}`,
    `--health-addr=127.0.0.1:${health}`,
    `--prometheus-port=${metrics}`,
    `--audit-interval=${AUDIT_INTERVAL_S}`,
    `--api-cache-dir=${auditDir}`,
    '--default-wait-for-vapb-generation=1',
    ...(isWebhook ? [`--host=${stage.clusterIp}`, '--port=443'] : []),
  ]
  const env = { POD_NAME: podName, POD_NAMESPACE: NAMESPACE, NAMESPACE, CONTAINER_NAME: 'manager' }
  await stage.startProcess('gatekeeper', args, env)
  if (isWebhook) await mount(stage, certDir)
  await stage.untilReady(`${name} is ready`, `http://127.0.0.1:${health}/readyz`)
}

function podOf(deployment: Manifest, name: string): Manifest {
  const template = recordAt(deployment, 'spec', 'template')
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: recordAt(template, 'metadata', 'labels') },
    spec: template['spec'],
  }
}

/** Writes the files of a Secret volume, as a kubelet does. */
async function mount(stage: Stage, dir: string): Promise<void> {
  let data: Record<string, unknown> = {}
  await stage.until('the certificate exists', async () => {
    data = recordAt(await stage.find(SECRET), 'data')
    return 'tls.crt' in data
  })
  for (const [file, content] of Object.entries(data))
    await writeFile(join(dir, file), Buffer.from(String(content), 'base64'), { mode: 0o600 })
}
