/**
 * The server that Kubernetes' tests run as a Pod: admission webhooks and a conversion webhook on
 * different paths, over TLS with its own CA.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../src/api/object.ts'
import { Authority } from '../../support/harness/issued-certificate.ts'

/**
 * Cluster IP of the webhook. It is a loopback address in the range of Services, so that a Service
 * works without kube-proxy.
 */
export const CLUSTER_IP = '127.0.77.9'
/**
 * Response time of `/allows-late`. It is longer than the shortest timeout, and shorter than the
 * default timeout.
 */
export const LATE_MS = 2_000

export class SampleWebhook implements AsyncDisposable {
  readonly port: number
  readonly caBundle: string
  readonly #server: Server

  private constructor(server: Server, authority: Authority) {
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    this.port = address.port
    this.caBundle = Buffer.from(authority.certificatePem).toString('base64')
    this.#server = server
  }

  /** Starts the webhook. `serviceNames` are the DNS names of its Services. */
  static async start(serviceNames: readonly string[]): Promise<SampleWebhook> {
    const authority = new Authority('webhooks')
    const { certificatePem: cert, keyPem: key } = authority.issue({
      cn: 'webhook',
      usage: ['server'],
      hosts: [CLUSTER_IP, ...serviceNames],
    })
    const server = createServer({ cert, key }, (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'https://webhook')
      text(request)
        .then(async (body) =>
          response.end(JSON.stringify(await answer(pathname, JSON.parse(body)))),
        )
        .catch((error: unknown) => response.writeHead(500).end(String(error)))
    })
    server.listen(0, CLUSTER_IP)
    await once(server, 'listening')
    return new SampleWebhook(server, authority)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

async function answer(path: string, review: Fields): Promise<Fields> {
  const { apiVersion, kind } = review
  const request = fieldsOf(review['request'])
  const decide = paths[path]
  assert.ok(decide, `there is no webhook at ${path}`)
  return { apiVersion, kind, response: { uid: request['uid'], ...(await decide(request)) } }
}

type Decide = (request: Fields) => Fields | Promise<Fields>

const allowed = { allowed: true } as const
const denied = (status: Fields): Fields => ({ allowed: false, status })

const patched = (path: string, value: unknown): Fields => {
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path, value }])).toString('base64')
  return { ...allowed, patchType: 'JSONPatch', patch }
}

/** Returns the object of a review. For a deletion, this is the old object. */
const objectOf = ({ operation, object, oldObject }: Fields): Fields =>
  fieldsOf(operation === 'DELETE' ? oldObject : object)
const dataOf = (request: Fields): Fields => fieldsOf(objectOf(request)['data'])
const labelsOf = (request: Fields): Fields =>
  fieldsOf(fieldsOf(objectOf(request)['metadata'])['labels'])

const refuseData = (request: Fields): Fields => {
  const mark = dataOf(request)['webhook-test']
  if (mark === 'forbidden' && request['operation'] !== 'DELETE')
    return denied({ reason: 'it has forbidden data' })
  if (mark === 'permanent' && request['operation'] === 'DELETE')
    return denied({ reason: 'it may not be deleted' })
  return allowed
}

/** Returns a patch that adds `stage-1` to new data, or `stage-2` to data with `stage-1`. */
const addStage = (request: Fields): Fields => {
  const data = dataOf(request)
  if (data['stage-1'] === 'yes') return patched('/data/stage-2', 'yes')
  return data['start'] === 'yes' ? patched('/data/stage-1', 'yes') : allowed
}

async function checkPod(request: Fields): Promise<Fields> {
  const label = labelsOf(request)['webhook-test']
  if (label === 'hang') await new Promise<never>(() => undefined)
  const faults = label === 'forbidden' ? ['it has a forbidden label'] : []
  const containers = itemsOf(fieldsOf(objectOf(request)['spec'])['containers'])
  if (containers.some(({ name }) => name === 'forbidden'))
    faults.push('it has a forbidden container')
  return faults.length === 0 ? allowed : denied({ message: faults.join('; ') })
}

const addInitContainer = (request: Fields): Fields =>
  fieldsOf(objectOf(request)['metadata'])['name'] === 'to-be-mutated'
    ? patched('/spec/initContainers', [{ name: 'added', image: 'added', resources: {} }])
    : allowed

/** Converts between v1, which has `hostPort`, and v2, which has `host` and `port`. */
function convert({ desiredAPIVersion, objects }: Fields): Fields {
  const toSecond = textOf(desiredAPIVersion).endsWith('/v2')
  const convertedObjects = itemsOf(objects).map(({ hostPort, host, port, ...rest }) => {
    assert.notEqual(rest['apiVersion'], desiredAPIVersion, 'the object has this version already')
    const [first, second] = textOf(hostPort).split(':')
    const split = hostPort === undefined ? {} : { host: first, port: second }
    const joined =
      host === undefined && port === undefined
        ? {}
        : { hostPort: `${textOf(host)}:${textOf(port)}` }
    return { ...rest, apiVersion: desiredAPIVersion, ...(toSecond ? split : joined) }
  })
  return { result: { status: 'Success' }, convertedObjects }
}

const paths: Readonly<Record<string, Decide>> = {
  '/denies': () => denied({ message: 'this webhook denies everything' }),
  '/allows-late': () => sleep(LATE_MS, allowed),
  '/checks-data': refuseData,
  '/checks-pods': checkPod,
  '/checks-definitions': (request) =>
    labelsOf(request)['webhook-test'] === 'forbidden'
      ? denied({ message: 'it has a forbidden label' })
      : allowed,
  '/adds-stages': addStage,
  '/adds-init-containers': addInitContainer,
  '/adds-labels': () => patched('/metadata/labels', { added: 'yes' }),
  '/converts': convert,
}
