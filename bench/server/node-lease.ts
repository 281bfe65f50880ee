/** The Lease of a node, as a kubelet writes it on each renewal. */
import { nodeName } from './many-pods.ts'

export const versionOf = (object: Buffer): string | undefined =>
  /"resourceVersion":"(\d+)"/.exec(object.toString('latin1'))?.[1]

export const lease = (at: number, resourceVersion?: string): string =>
  JSON.stringify({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: nodeName(at), resourceVersion },
    spec: {
      holderIdentity: nodeName(at),
      leaseDurationSeconds: 40,
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  })
