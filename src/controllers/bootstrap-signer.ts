/**
 * The bootstrap-signer-controller. It signs the kubeconfig in the ConfigMap
 * kube-public/cluster-info with each bootstrap token that allows signing. A client that has such a
 * token can then verify that the kubeconfig belongs to the cluster. The payload of the signature is
 * detached (RFC 7515, appendix F).
 */
import { createHmac } from 'node:crypto'
import { type Fields, fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { contentOf, Informer } from '../storage/cache/informer.ts'
import { ObjectController, type ObjectControllerOptions } from './object-controller.ts'
import { expiryOf } from './token-cleaner.ts'

const configMapName = 'cluster-info'
const configMapNamespace = 'kube-public'
const tokenNamespace = 'kube-system'
const signaturePrefix = 'jws-kubeconfig-'
const tokenName = /^bootstrap-token-([a-z0-9]{6})$/

/** A token that allows signing: its id, its secret, and its expiration. */
type Token = { readonly id: string; readonly secret: string; readonly endMs: number }

export function signClusterInfo(
  wallMs: () => number,
  options: ObjectControllerOptions,
): AsyncDisposable {
  const { registry, accessOf, log } = options
  const stack = new AsyncDisposableStack()
  const secrets = registry.find({ group: '', version: 'v1', plural: 'secrets' })
  if (secrets === undefined) return stack
  const tokens = new Map<string, Token>()
  let isStopping = false
  const { keys, reader } = accessOf(secrets)
  const informer = new Informer<Token | undefined>({
    name: 'bootstrap tokens',
    reader,
    range: keys.range(tokenNamespace),
    read: (item) => tokenOf(keys.parse(item.key)?.name ?? '', contentOf(item)),
    set: (key, token) => {
      if (token === undefined && !tokens.delete(key)) return
      if (token !== undefined) tokens.set(key, token)
      configMaps.again(configMapNamespace, configMapName)
    },
    known: () => tokens.keys(),
    isBackground: true,
    log,
  })
  const configMaps = new ObjectController(
    {
      name: 'the signing of cluster-info',
      queue: 'bootstrap_signer_queue',
      workersMax: 1,
      group: '',
      plural: 'configmaps',
      namespace: configMapNamespace,
      concerns: ({ key }) => key.endsWith(`/${configMapNamespace}/${configMapName}`),
      work: async (object, write) => {
        // Wait until all tokens have been read. Otherwise signatures of tokens that are not read
        // yet would be removed.
        await listed
        // Stopping the controller also ends this wait. Not all tokens may have been read by then,
        // so leave the signatures unchanged.
        if (isStopping) return undefined
        const valid = [...tokens.values()].filter(({ endMs }) => endMs > wallMs())
        const signed = withSignatures(object, valid)
        if (signed !== undefined) await write.update(signed)
        // Run again at the next expiration, so that the signature is removed on time.
        // kube-controller-manager removes it only when an object changes.
        // Bounded: `valid` is short, because administrators create few bootstrap tokens
        const nextMs = Math.min(...valid.map(({ endMs }) => endMs))
        return nextMs === Infinity ? undefined : Math.max(nextMs - wallMs(), 0)
      },
    },
    options,
  )
  stack.use(configMaps)
  // Resources are disposed of in reverse order, so the informer stops before the controller. This
  // resolves `listed`, for which the controller may be waiting.
  stack.use(informer)
  stack.defer(() => {
    isStopping = true
  })
  // This promise never rejects, so it can be awaited later.
  const listed = informer.start()
  return stack
}

/** Reads a token from a Secret. Returns undefined if the token does not allow signing. */
export function tokenOf(name: string, { type, data }: Fields): Token | undefined {
  const read = (key: string): string =>
    Buffer.from(textOf(fieldsOf(data)[key]), 'base64').toString()
  const id = tokenName.exec(name)?.[1]
  if (type !== 'bootstrap.kubernetes.io/token' || id === undefined || read('token-id') !== id)
    return undefined
  const secret = read('token-secret')
  if (secret === '' || read('usage-bootstrap-signing') !== 'true') return undefined
  return { id, secret, endMs: expiryOf({ type, data }) ?? Infinity }
}

/**
 * Returns the ConfigMap with exactly the signatures of these tokens. Returns undefined if its
 * signatures are already right.
 */
export function withSignatures(
  configMap: KubeObject,
  tokens: readonly Omit<Token, 'endMs'>[],
): KubeObject | undefined {
  const before = fieldsOf(configMap['data'])
  const { kubeconfig } = before
  if (typeof kubeconfig !== 'string') return undefined
  const others = Object.entries(before).filter(([key]) => !key.startsWith(signaturePrefix))
  const signatures = tokens.map(({ id, secret }) => [
    `${signaturePrefix}${id}`,
    signatureOf(kubeconfig, id, secret),
  ])
  const data = Object.fromEntries([...others, ...signatures])
  const isSame = Object.keys(before).length === Object.keys(data).length
  if (isSame && Object.entries(data).every(([key, value]) => before[key] === value))
    return undefined
  return { ...configMap, data }
}

/** Creates an HS256 signature, with the key id in the header and without the payload. */
function signatureOf(content: string, kid: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid })).toString('base64url')
  const payload = Buffer.from(content).toString('base64url')
  return `${header}..${createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')}`
}
