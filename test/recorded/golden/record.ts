/**
 * Records how kube-apiserver stores and returns objects of every kind, and its discovery and
 * OpenAPI documents.
 */
import { createHash } from 'node:crypto'
import { isRecord, type Json } from '../compat/json.ts'
import { type Client, createClient } from '../compat/client.ts'
import {
  customServed,
  createRow,
  readSet,
  type ObjectSet,
  type SetRow,
} from '../../clients/every-kind.ts'
import { type ApiServerProcess } from '../../support/harness/api-server.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startReference } from '../../support/harness/reference.ts'
import { SoakClient } from '../../chaos/soak/client.ts'
import { openEnvelope, isProtobuf } from '../../../src/objects/codec/protobuf/envelope.ts'
import { undescribed } from './described.ts'
import { type Pair, readAll, readOne } from './etcd-gateway.ts'
import type { StoredRow } from './read.ts'

const set: ObjectSet = { name: 'golden', number: 21 }

/**
 * Flags that enable the versions that are off by default. kube-apiserver also needs these feature
 * gates to serve them.
 */
const allVersions = [
  '--runtime-config=api/all=true',
  `--feature-gates=${[
    'ClusterTrustBundle',
    'CoordinatedLeaderElection',
    'DRADeviceTaints',
    'DynamicResourceAllocation',
    'MutatingAdmissionPolicy',
    'StorageVersionAPI',
    'APIServerIdentity',
    'StorageVersionMigrator',
    'InformerResourceVersion',
    'VolumeAttributesClass',
  ]
    .map((gate) => `${gate}=true`)
    .join(',')}`,
]

export type GoldenRecording = {
  readonly stored: readonly StoredRow[]
  readonly keys: Readonly<Record<string, readonly string[]>>
  readonly documents: ReadonlyMap<string, Json>
}

/**
 * Records the responses of kube-apiserver. `served` selects which API versions are enabled, and
 * therefore which objects are recorded.
 */
export async function record(served: 'default' | 'all'): Promise<GoldenRecording> {
  const args = served === 'all' ? allVersions : []
  const rows = readSet(set).filter(({ isDefault }) => isDefault === (served === 'default'))
  await using etcd = await startEtcd()
  const made = await during(args, etcd.clientUrl, async (server) => {
    using client = createClient({ server: server.url, token: server.token })
    using soak = new SoakClient(server.url)
    const documents = await readDocuments(client)
    const paths = await makeObjects(soak, rows)
    const answers = await Promise.all(paths.map((path) => readAnswers(client, path)))
    return { documents, answers }
  })
  const before = await readAll(etcd.clientUrl, '/registry/')
  const keys = keysByKind(before)
  const stored: StoredRow[] = []
  await during(
    [...args, '--storage-media-type=application/json'],
    etcd.clientUrl,
    async (server) => {
      using client = createClient({ server: server.url, token: server.token })
      using soak = new SoakClient(server.url)
      await customServed(soak, set)
      for (const answer of made.answers) {
        const { key, value } = keyOf(before, answer)
        const { protobuf, ...rest } = {
          protobuf: isProtobuf(value) ? value.toString('base64') : undefined,
          ...answer,
        }
        // Write the object again without a change. The server now stores it, because it uses
        // another encoding than before.
        const put = await client.request({
          method: 'PUT',
          path: answer.get,
          headers: asJson,
          body: answer.text,
        })
        if (put.status !== 200)
          throw new Error(`PUT ${answer.get}: ${put.status} ${put.raw.toString()}`)
        const json = (await readOne(etcd.clientUrl, key)).toString()
        const { get, object, sha256, revision } = rest
        stored.push({
          get,
          key,
          isDefault: served === 'default',
          ...(protobuf === undefined ? {} : { protobuf }),
          json,
          revision,
          object,
          ...(protobuf === undefined ? {} : { sha256 }),
        })
      }
    },
  )
  return { stored, keys, documents: made.documents }
}

const asJson = { 'content-type': 'application/json' }

async function during<T>(
  args: readonly string[],
  etcdUrl: string,
  act: (server: ApiServerProcess) => Promise<T>,
): Promise<T> {
  await using server = await startReference({ etcdUrl, args })
  return await act(server)
}

/** Creates the objects and returns their paths. */
async function makeObjects(
  client: SoakClient,
  rows: readonly SetRow[],
): Promise<readonly string[]> {
  const namespace = await client.call('POST', '/api/v1/namespaces', {
    metadata: { name: set.name },
  })
  if (namespace.status !== 201)
    throw new Error(`cannot create the namespace: ${JSON.stringify(namespace.body)}`)
  const paths: string[] = []
  const refused: string[] = []
  for (const row of rows) {
    const made = await createRow(client, row, set)
    if ('refused' in made) refused.push(made.refused)
    else paths.push(made.path)
  }
  if (refused.length > 0) throw new Error(`the reference refused\n${refused.join('\n')}`)
  return paths
}

type Answers = Pick<StoredRow, 'get' | 'object' | 'revision'> & {
  readonly sha256: string
  readonly text: string
}

async function readAnswers(client: Client, path: string): Promise<Answers> {
  const { raw } = await client.request({ method: 'GET', path })
  const protobuf = await client.request({
    method: 'GET',
    path,
    headers: { accept: 'application/vnd.kubernetes.protobuf' },
  })
  const text = raw.toString()
  const object: StoredRow['object'] = JSON.parse(text)
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {}
  const sha256 = createHash('sha256').update(protobuf.raw).digest('hex')
  return { get: path, text, object, sha256, revision: Number(metadata['resourceVersion']) }
}

/**
 * Returns the key of an object and its stored bytes. Finds them by the revision of the object,
 * which no other key has.
 */
function keyOf(pairs: readonly Pair[], { revision, get }: Answers): Pair {
  const found = pairs.find((pair) => pair.revision === revision)
  if (found === undefined) throw new Error(`no key has revision ${revision} of ${get}`)
  return found
}

function keysByKind(pairs: readonly Pair[]): Record<string, readonly string[]> {
  const byKind = new Map<string, string[]>()
  for (const { key, value } of pairs) {
    const { apiVersion, kind } = isProtobuf(value)
      ? openEnvelope(value)
      : JSON.parse(value.toString())
    const id = `${apiVersion} ${kind}`
    byKind.set(id, [...(byKind.get(id) ?? []), key])
  }
  return Object.fromEntries([...byKind].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

async function readDocuments(client: Client): Promise<ReadonlyMap<string, Json>> {
  const read = async (path: string, accept = 'application/json'): Promise<Json> => {
    const { raw, status } = await client.request({ method: 'GET', path, headers: { accept } })
    if (status !== 200) throw new Error(`GET ${path}: ${status}`)
    return undescribed(JSON.parse(raw.toString()))
  }
  const documents = new Map<string, Json>()
  for (const path of ['/api', '/apis']) documents.set(path, await read(path, discovery))
  documents.set('/openapi/v2', await read('/openapi/v2'))
  const index = await read('/openapi/v3')
  const paths = isRecord(index) && isRecord(index['paths']) ? Object.keys(index['paths']) : []
  for (const path of paths.toSorted())
    documents.set(`/openapi/v3/${path}`, await read(`/openapi/v3/${path}`))
  return documents
}
