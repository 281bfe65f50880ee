/**
 * Adds the volume that a container needs to access the API: a token, the CA certificate of the
 * server, and the name of the namespace.
 */
import { type Fields, itemsOf, textOf } from '../../api/object.ts'
import { eachItem, everyItem, firstOf, once } from '../../lib/scheduling/parts.ts'

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
 * Returns the pod spec with the volume mounted in each container, except in containers that already
 * mount something at the path. Returns the same object if all containers do.
 */
export function withTokenVolume(spec: Fields, nameSuffix: () => string): Fields {
  const volumes = itemsOf(spec['volumes'])
  const known = tokenVolumeIn(volumes)
  // Any suffix results in a unique name, because no volume of the pod has this prefix.
  const name = known ?? `${volumePrefix}${once('suffix of a token volume', nameSuffix)}`
  const init = mountedIn(spec, 'initContainers', name)
  const usual = mountedIn(spec, 'containers', name)
  if (init === undefined && usual === undefined) return spec
  return {
    ...spec,
    ...init,
    ...usual,
    ...(known === undefined ? { volumes: [...volumes, tokenVolume(name)] } : {}),
  }
}

/** Returns the name of the volume for the token if the pod already has one. */
const tokenVolumeIn = (volumes: readonly Fields[]): string | undefined =>
  firstOf('token volume', volumes, ({ name }) => {
    const text = textOf(name)
    return text.startsWith(volumePrefix) ? text : undefined
  })

/** Returns the list with the mounts, or undefined if no container of the list needs one. */
function mountedIn(spec: Fields, list: string, volume: string): Fields | undefined {
  const { containers, isChanged } = eachItem(
    'containers with the token',
    itemsOf(spec[list]),
    (): { containers: Fields[]; isChanged: boolean } => ({ containers: [], isChanged: false }),
    (mounted, container) => {
      const isMissing = needsMount(container)
      if (isMissing) mounted.isChanged = true
      mounted.containers.push(isMissing ? withMount(container, volume) : container)
      return true
    },
  )
  return isChanged ? { [list]: containers } : undefined
}

const needsMount = (container: Fields): boolean =>
  everyItem(
    'mounts of a container',
    itemsOf(container['volumeMounts']),
    (mount) => mount['mountPath'] !== mountPath,
  )

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
