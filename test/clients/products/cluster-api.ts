/**
 * Tests Cluster API's core manager, whose webhooks are called by URL. Covers kinds with three
 * versions, conversion, defaulting, rejections, and controllers that write with server-side apply.
 * The infrastructure provider is simulated.
 */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toolPath } from '../../support/harness/etcd.ts'
import { Authority } from '../../support/harness/issued-certificate.ts'
import { admitted } from './cluster-api-admission.ts'
import { providerKinds } from './cluster-api-objects.ts'
import { reconciled } from './cluster-api-topology.ts'
import { arrayAt, at, recordAt, textAt } from './fields.ts'
import { type Manifest, moduleDir, readManifests } from './manifests.ts'
import { freePort, type Product, type Stage } from './stage.ts'

const NAMESPACE = 'capi-system'
/**
 * Timeout of the webhooks. On a busy machine the default of ten seconds can be too short, and these
 * webhooks fail closed.
 */
const WEBHOOK_TIMEOUT_S = 30
/** Maximum size of kustomize's output. The definitions take less than one megabyte. */
const KUSTOMIZE_MAX_BYTES = 16 * 1024 * 1024

export const clusterApi: Product = { name: 'cluster-api', play: playClusterApi }

async function playClusterApi(stage: Stage): Promise<void> {
  await install(stage)
  await admitted(stage)
  await reconciled(stage)
}

async function install(stage: Stage): Promise<void> {
  const dir = await moduleDir('cluster-api', 'sigs.k8s.io/cluster-api')
  const maxBuffer = KUSTOMIZE_MAX_BYTES
  const { stdout } = await promisify(execFile)(
    toolPath('kubectl'),
    ['kustomize', join(dir, 'config', 'default')],
    {
      maxBuffer,
    },
  )
  const authority = new Authority('webhooks')
  const { certificatePem, keyPem } = authority.issue({
    cn: 'webhook',
    usage: ['server'],
    hosts: ['127.0.0.1'],
  })
  const certDir = join(stage.dir, 'certs')
  await mkdir(certDir)
  await writeFile(join(certDir, 'tls.crt'), certificatePem)
  await writeFile(join(certDir, 'tls.key'), keyPem)
  const port = await freePort()
  const hook: Hook = {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
  }
  // cert-manager's objects are left out, because cert-manager does not run here.
  const manifests = readManifests(stdout)
    .filter(({ apiVersion }) => !apiVersion.startsWith('cert-manager.io/'))
    .map((manifest) => adapted(manifest, hook, stage.clusterIp))
  await stage.install([...manifests, ...providerKinds])
  const deployment = manifests.find(({ kind }) => kind === 'Deployment')
  const health = await freePort()
  const args = [
    ...arrayAt(deployment, 'spec', 'template', 'spec', 'containers', 0, 'args').map((arg) =>
      withDefaults(String(arg)),
    ),
    `--kubeconfig=${await stage.kubeconfigOf(NAMESPACE, 'capi-manager')}`,
    // Outside of a Pod, the manager does not know in which namespace to create the Lease. Therefore
    // leader election is disabled.
    '--leader-elect=false',
    '--feature-gates=ClusterTopology=true',
    `--diagnostics-address=127.0.0.1:${await freePort()}`,
    `--health-addr=127.0.0.1:${health}`,
    `--webhook-port=${port}`,
    `--webhook-cert-dir=${certDir}`,
  ]
  await stage.startProcess('cluster-api', args, {
    POD_NAMESPACE: NAMESPACE,
    POD_NAME: 'capi-0',
    POD_UID: 'capi-0',
  })
  await stage.untilReady('the manager is ready', `http://127.0.0.1:${health}/readyz`)
}

type Hook = { readonly url: string; readonly caBundle: string }

/**
 * Changes a manifest of Cluster API for this test. Webhooks are called by URL, and all versions of
 * its kinds are served.
 */
function adapted(manifest: Manifest, hook: Hook, clusterIP: string): Manifest {
  if (manifest.kind === 'Service')
    return { ...manifest, spec: { ...recordAt(manifest, 'spec'), clusterIP } }
  const webhooks = manifest['webhooks']
  if (Array.isArray(webhooks))
    return { ...manifest, webhooks: webhooks.map((webhook) => byUrl(webhook, hook)) }
  if (
    manifest.kind !== 'CustomResourceDefinition' ||
    at(manifest, 'spec', 'conversion') === undefined
  )
    return manifest
  const spec = recordAt(manifest, 'spec')
  const webhook = recordAt(spec, 'conversion', 'webhook')
  const clientConfig = clientConfigOf(webhook['clientConfig'], hook)
  const versions = arrayAt(spec, 'versions').map((version) => ({
    ...recordAt(version),
    served: true,
  }))
  return {
    ...manifest,
    spec: {
      ...spec,
      versions,
      conversion: { strategy: 'Webhook', webhook: { ...webhook, clientConfig } },
    },
  }
}

const byUrl = (webhook: unknown, hook: Hook): object => ({
  ...recordAt(webhook),
  clientConfig: clientConfigOf(at(webhook, 'clientConfig'), hook),
  timeoutSeconds: WEBHOOK_TIMEOUT_S,
})

const clientConfigOf = (config: unknown, { url, caBundle }: Hook): object => ({
  url: `${url}${textAt(config, 'service', 'path')}`,
  caBundle,
})

/** Replaces `${NAME:=value}` with its default, as clusterctl does. */
const withDefaults = (text: string): string => text.replace(/\$\{\w+:=([^}]*)\}/g, '$1')
