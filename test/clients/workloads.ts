/**
 * Objects that make the controllers of a cluster work, and conditions that show the results of that
 * work.
 */

const template = (app: string, spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: {
    containers: [{ name: app, image: `${app}:1` }],
    terminationGracePeriodSeconds: 0,
    ...spec,
  },
})
const selector = (app: string): object => ({ matchLabels: { app } })
const storage = { accessModes: ['ReadWriteOnce'], storageClassName: 'by-hand' }
const work = { template: template('work', { restartPolicy: 'Never' }) }

/** A PersistentVolume. It is not deleted with a namespace, so the test deletes it separately. */
export const volume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: { ...storage, capacity: { storage: '1Gi' }, hostPath: { path: '/none' } },
}

export const workloads: readonly object[] = [
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'quota' },
    spec: { hard: { services: '10' } },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    type: 'kubernetes.io/service-account-token',
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: selector('web'), template: template('web') },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { minAvailable: 1, selector: selector('web') },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      replicas: 1,
      serviceName: 'db',
      selector: selector('db'),
      template: template('db'),
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { ...storage, resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'log' },
    spec: { selector: selector('log'), template: template('log') },
  },
  { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec: work },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'often' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: work } },
  },
]

/**
 * For each controller: an object, the path of a field, and the value that the field must have when
 * the controller has processed the object.
 */
export const outcomes: readonly (readonly [
  controller: string,
  what: string,
  path: string,
  wanted: RegExp,
])[] = [
  ['tokens', 'secret/token', '{.data.token}', /./],
  ['resourcequota', 'quota/quota', '{.status.used.services}', /^1$/],
  ['replicaset', 'rs', '{.items[*].status.replicas}', /^2$/],
  ['scheduler', 'pods -l app=web', '{.items[*].spec.nodeName}', /^played played$/],
  ['deployment', 'deploy/web', '{.status.availableReplicas}', /^2$/],
  ['endpoints', 'endpoints/web', '{.subsets[*].addresses[*].ip}', /^[\d.]+ [\d.]+$/],
  ['endpointslice', 'endpointslices', '{.items[*].endpoints[*].conditions.ready}', /^true true$/],
  ['disruption', 'pdb/web', '{.status.currentHealthy} {.status.disruptionsAllowed}', /^2 1$/],
  ['persistentvolume-binder', 'pvc', '{.items[*].status.phase}', /^Bound$/],
  ['statefulset', 'sts/db', '{.status.readyReplicas}', /^1$/],
  ['daemonset', 'ds/log', '{.status.numberReady}', /^1$/],
  ['job', 'job/once', '{.status.succeeded}', /^1$/],
  ['cronjob', 'cronjob/often', '{.status.lastSuccessfulTime}', /./],
]
