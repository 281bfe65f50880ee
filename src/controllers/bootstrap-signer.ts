/**
 * The bootstrap-signer-controller: signs the kubeconfig in the ConfigMap `cluster-info` of
 * kube-public with each bootstrap token that is for that, so that who has the token can tell that
 * the kubeconfig is that of the cluster (RFC 7515, appendix F: the payload is detached).
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

/** What signs: the id of a token, its secret, and until when. */
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
        // The signatures of tokens that are not known yet must not go.
        await listed
        // A stop ends the wait, too, and then not all tokens are known.
        if (isStopping) return undefined
        const valid = [...tokens.values()].filter(({ endMs }) => endMs > wallMs())
        const signed = withSignatures(object, valid)
        if (signed !== undefined) await write.update(signed)
        // Upstream takes the signature of an expired token away with the next change.
        // limit: bootstrap tokens, which administrators create
        const nextMs = Math.min(...valid.map(({ endMs }) => endMs))
        return nextMs === Infinity ? undefined : Math.max(nextMs - wallMs(), 0)
      },
    },
    options,
  )
  stack.use(configMaps)
  // Before the controller, whose work may wait for the list.
  stack.use(informer)
  stack.defer(() => {
    isStopping = true
  })
  // Never fails.
  const listed = informer.start()
  return stack
}

/** Undefined: it signs nothing. */
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

/** The ConfigMap with the signatures of these tokens and no others; undefined if it has them. */
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

/** HS256, with the key id in the header and without the content. */
function signatureOf(content: string, kid: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid })).toString('base64url')
  const payload = Buffer.from(content).toString('base64url')
  return `${header}..${createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')}`
}
