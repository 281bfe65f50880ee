/**
 * Nodes whose kubelets kwok simulates. Their Pods are Running as soon as they are bound, Pods of
 * Jobs complete, and deleted Pods are removed.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SoakClient } from '../../../chaos/soak/client.ts'
import type { ApiServerProcess } from '../../../support/harness/api-server.ts'
import { Component } from '../../../support/harness/component.ts'
import { freePorts } from '../../../support/harness/etcd.ts'

/**
 * Duration of a node lease, as a kubelet sets it. Leases are renewed after a quarter of this time.
 */
const LEASE_SECONDS = 40

const resources = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }

export async function startKwokNodes(
  server: ApiServerProcess,
  kubeconfig: string,
  count: number,
): Promise<Component> {
  const [port = 0] = await freePorts(1)
  const kwok = new Component('kwok', await mkdtemp(join(tmpdir(), 'keelson-kwok-')), [
    `--kubeconfig=${kubeconfig}`,
    '--manage-all-nodes=true',
    `--node-lease-duration-seconds=${LEASE_SECONDS}`,
    `--server-address=127.0.0.1:${port}`,
    '--v=WARN',
  ])
  using client = new SoakClient(server.url, server.token)
  for (let index = 0; index < count; index++) {
    const { status } = await client.call('POST', '/api/v1/nodes', node(`node-${index}`))
    if (status !== 201) throw new Error(`Node node-${index}: ${status}`)
  }
  return kwok
}

const node = (name: string): unknown => ({
  metadata: {
    name,
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    },
  },
  status: { allocatable: resources, capacity: resources },
})
