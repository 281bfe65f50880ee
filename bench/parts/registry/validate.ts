/**
 * Measures the cost of the rules of a kind: defaulting, preparing and validating a typical
 * Deployment.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import { anonymousUser } from '../../../src/api/user.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import type { Resource } from '../../../src/registry/resource.ts'
import { validateCreate } from '../../../src/registry/validate.ts'
import type { Figure } from '../../report/figure.ts'

const ROUNDS = 20_000
const WARM_UP_ROUNDS = 5_000
const MICROS_MAX = 100

const container = {
  name: 'web',
  image: 'registry.example.com/team/web:1.2.3',
  ports: [{ name: 'http', containerPort: 8080 }],
  env: [
    { name: 'MODE', value: 'production' },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/web' }],
  securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false },
}

const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    labels: { app: 'web' },
    annotations: { team: 'shop' },
  },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [container],
        volumes: [{ name: 'config', configMap: { name: 'web' } }],
        tolerations: [{ key: 'spot', operator: 'Exists', effect: 'NoSchedule' }],
      },
    },
  },
}

export function benchRegistry(): Figure[] {
  const resource = builtInResources().find(({ kind }) => kind === 'Deployment')
  if (resource === undefined) throw new Error('no resource for Deployments')
  run(resource, WARM_UP_ROUNDS)
  const before = process.cpuUsage()
  const faults = run(resource, ROUNDS)
  const { user, system } = process.cpuUsage(before)
  if (faults > 0) throw new Error('the Deployment of the benchmark is not valid')
  const value = (user + system) / ROUNDS
  return [
    {
      name: 'default and validate a Deployment',
      value,
      unit: 'µs CPU',
      target: { below: MICROS_MAX },
    },
  ]
}

function run(resource: Resource, rounds: number): number {
  const writer = {
    user: anonymousUser,
    now: () => '2026-03-01T10:00:00Z',
    warn: () => undefined,
    newId: () => 'u',
  }
  let faults = 0
  for (let round = 0; round < rounds; round++) {
    const object = resource.rules.prepareCreate(resource.shape.setDefaults(deployment), writer)
    faults += validateCreate(object, resource).length
  }
  return faults
}
