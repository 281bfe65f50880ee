/**
 * Sends the same requests to kube-apiserver and to Keelson, so that their counts can be compared.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, HttpAnswer } from '../compat/client.ts'
import { readSamples } from './exposition.ts'

/**
 * Resources that servers do not request themselves, so that only the requests of this module are
 * counted.
 */
const own: ReadonlySet<string> = new Set([
  'podtemplates',
  'replicationcontrollers',
  'gears',
  'things',
])

const json = { 'content-type': 'application/json' }
const base = '/api/v1/namespaces/default'
const template = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PodTemplate',
  metadata: { name },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
})

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gears.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { teeth: { type: 'integer' } },
                'x-kubernetes-validations': [{ rule: 'self.teeth > 2' }],
              },
            },
          },
        },
      },
      {
        name: 'v1alpha1',
        served: true,
        storage: false,
        deprecated: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
}

const gear = {
  apiVersion: 'example.com/v1',
  kind: 'Gear',
  metadata: { name: 'g' },
  spec: { teeth: 3 },
}
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's' },
  spec: { type: 'NodePort', ports: [{ port: 80 }] },
}

/** An Event, which is stored with a TTL. */
const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e' },
  involvedObject: { namespace: 'default' },
}

export async function exercise(client: Client): Promise<void> {
  const ask: SendRequest = (method, path, body, headers = {}) =>
    client.request({
      method,
      path,
      headers: { ...(body === undefined ? {} : json), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  await askForTemplates(ask)
  await askForOtherPaths(ask)
  await askForGears(ask)
  await ask('POST', `${base}/services`, service)
  await ask('GET', `${base}/pods/none/log`)
  await ask('POST', `${base}/events`, event)
}

type SendRequest = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<HttpAnswer>

/** Sends requests with each verb, and requests that are rejected. */
async function askForTemplates(ask: SendRequest): Promise<void> {
  const templates = `${base}/podtemplates`
  await ask('POST', templates, template('a'))
  await ask('POST', `${templates}?dryRun=All&fieldValidation=Strict`, template('b'))
  await ask('GET', `${templates}/a`)
  await ask('GET', `${templates}/a?dryRun=Some`)
  await ask('HEAD', `${templates}/a`)
  await ask('GET', `${templates}/none`)
  await ask('GET', templates)
  await ask('GET', '/api/v1/podtemplates?limit=1')
  await ask('GET', `${templates}?fieldSelector=metadata.name=a`)
  await ask(
    'PATCH',
    `${templates}/a`,
    { metadata: { labels: { x: 'y' } } },
    { 'content-type': 'application/merge-patch+json' },
  )
  await ask('PATCH', `${templates}/a?fieldManager=m&force=true`, template('a'), {
    'content-type': 'application/apply-patch+yaml',
  })
  await ask('GET', `${templates}?watch=true&timeoutSeconds=1`)
  await ask('GET', `/api/v1/watch/podtemplates?timeoutSeconds=1`)
  await ask('OPTIONS', templates)
  await ask('PURGE', templates)
  await ask('POST', `${templates}/a`, template('a'))
  await ask('GET', `${base}/replicationcontrollers/none/scale`)
  await ask('GET', `${base}/replicationcontrollers/none/none`)
  await ask('GET', templates, undefined, { authorization: 'Bearer wrong' })
  await ask('GET', templates, undefined, { authorization: 'Bearer bob-token' })
  await ask('DELETE', `${templates}/a`)
  await ask('DELETE', templates)
}

/** Sends requests for health checks, for discovery, and for paths that do not exist. */
async function askForOtherPaths(ask: SendRequest): Promise<void> {
  await ask('GET', '/apis/none.example.com/v1/things')
  await ask('GET', '/api/v1/things')
  await ask('GET', '/none')
  for (const path of [
    '/version',
    '/livez',
    '/readyz',
    '/healthz',
    '/healthz/ping',
    '/api',
    '/apis',
    '/api/v1',
    '/openapi/v2',
    '/openapi/v3',
  ])
    await ask('GET', path)
  await ask('GET', '/apis', undefined, {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  })
}

/** Creates a valid custom object and an invalid one, and requests a deprecated version. */
async function askForGears(ask: SendRequest): Promise<void> {
  await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  const gears = '/apis/example.com/v1/namespaces/default/gears'
  for (let tries = 0; tries < 300 && (await ask('GET', gears)).status !== 200; tries++)
    await sleep(100)
  await ask('POST', gears, gear)
  await ask('POST', gears, { ...gear, metadata: { name: 'bad' }, spec: { teeth: 1 } })
  await ask('PUT', `${gears}/g`, gear)
  await ask('GET', '/apis/example.com/v1alpha1/namespaces/default/gears')
}

/**
 * Returns the counts of these requests as sorted lines `metric{label=value,…} count`. LIST requests
 * of gears are left out, because the number of polls for the definition varies.
 */
export function countedOf(text: string): string[] {
  const names = [
    'apiserver_request_total',
    'apiserver_requested_deprecated_apis',
    'apiserver_request_body_size_bytes_count',
  ]
  /**
   * Matches metrics of the allocators of Service IPs and node ports. The first IP is allocated to
   * the Service `kubernetes`.
   */
  const ofPools =
    /^kube_apiserver_(?:clusterip|nodeport)_allocator_(?:allocation_total|allocated_ports|available_ports)$/
  const paths: ReadonlySet<string> = new Set(['/livez', '/healthz', 'apis', 'openapi/v3'])
  return readSamples(text)
    .filter(({ name }) => names.includes(name) || ofPools.test(name))
    .filter(({ name, labels: { resource = '', subresource = '' } }) => {
      if (ofPools.test(name)) return true
      const [plural = ''] = resource.split('.')
      return resource === '' ? paths.has(subresource) : own.has(plural)
    })
    .filter(({ labels: { resource, verb } }) => !(resource === 'gears' && verb === 'LIST'))
    .map(({ name, labels, value }) => {
      const shown = Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1))
      return `${name}{${shown.map(([label, shownValue]) => `${label}=${shownValue}`).join(',')}} ${value}`
    })
    .toSorted()
}
