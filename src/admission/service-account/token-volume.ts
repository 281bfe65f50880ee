/**
 * Adds the volume that a container needs to access the API: a token, the CA certificate of the
 * server, and the name of the namespace.
 */
import { type Fields, itemsOf, textOf } from '../../api/object.ts'

const volumePrefix = 'kube-api-access-'
/** Path at which clients expect the volume. */
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/**
 * Lifetime of the token: one hour and seven seconds. kube-apiserver recognizes the tokens that this
 * plugin mounts by the additional seven seconds.
 */
const TOKEN_SECONDS = 3607
const FILE_MODE = 0o644

/**
 * Returns the spec with the volume mounted in each container, unless the container already has a
 * mount at the path. Returns the same object if no container needs the volume.
 */
export function withTokenVolume(spec: Fields, nameSuffix: () => string): Fields {
  const volumes = itemsOf(spec['volumes'])
  const known = volumes.find(({ name }) => textOf(name).startsWith(volumePrefix))
  const name = known === undefined ? newName(volumes, nameSuffix) : textOf(known['name'])
  const lists = ['initContainers', 'containers'].filter((list) =>
    itemsOf(spec[list]).some(needsMount),
  )
  if (lists.length === 0) return spec
  const mounted = lists.map((list) => [
    list,
    itemsOf(spec[list]).map((one) => (needsMount(one) ? withMount(one, name) : one)),
  ])
  return {
    ...spec,
    ...Object.fromEntries(mounted),
    ...(known === undefined ? { volumes: [...volumes, tokenVolume(name)] } : {}),
  }
}

function newName(volumes: readonly Fields[], nameSuffix: () => string): string {
  const taken = new Set(volumes.map(({ name }) => textOf(name)))
  for (;;) {
    const name = `${volumePrefix}${nameSuffix()}`
    if (!taken.has(name)) return name
  }
}

const needsMount = (container: Fields): boolean =>
  !itemsOf(container['volumeMounts']).some((mount) => mount['mountPath'] === mountPath)

const withMount = (container: Fields, name: string): Fields => ({
  ...container,
  volumeMounts: [...itemsOf(container['volumeMounts']), { name, readOnly: true, mountPath }],
})

const tokenVolume = (name: string): Fields => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [
            { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
          ],
        },
      },
    ],
    defaultMode: FILE_MODE,
  },
})
