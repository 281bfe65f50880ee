/**
 * Checks which secrets a pod may reference. A mirror pod must not reference secrets. Other pods can
 * reference any secret, unless an annotation of their service account restricts them to the secrets
 * that the service account lists.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../api/object.ts'
import { everyItem, firstOf, once } from '../../lib/scheduling/parts.ts'
import { parseGoBoolean } from '../../lib/text/go-literals.ts'
import { secretNames } from '../../registry/kinds/core/pod/references.ts'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

export function mirrorPodFault(spec: Fields): string | undefined {
  if (textOf(spec['serviceAccountName']) !== '')
    return 'a mirror pod may not reference service accounts'
  if (secretNames(spec).length > 0) return 'a mirror pod may not reference secrets'
  const hasNoToken = everyItem(
    'volumes of a mirror pod',
    itemsOf(spec['volumes']),
    ({ projected }) =>
      everyItem(
        'sources of a volume',
        itemsOf(fieldsOf(projected)['sources']),
        ({ serviceAccountToken }) => serviceAccountToken === undefined,
      ),
  )
  return hasNoToken ? undefined : 'a mirror pod may not use ServiceAccountToken volume projections'
}

export function secretFault(spec: Fields, account: KubeObject): string | undefined {
  if (!isLimiting(account)) return undefined
  const known = namesIn(account['secrets'])
  const pullable = namesIn(account['imagePullSecrets'])
  return (
    firstOf('secrets of volumes', itemsOf(spec['volumes']), ({ secret }) => {
      const name = textOf(fieldsOf(secret)['secretName'])
      return secret === undefined || known.has(name)
        ? undefined
        : `volume with secret.secretName="${name}" ${notOf(account)} secret`
    }) ??
    containerFault(spec['initContainers'], 'init container', account) ??
    containerFault(spec['containers'], 'container', account) ??
    firstOf('pull secrets', itemsOf(spec['imagePullSecrets']), ({ name }, at) =>
      pullable.has(textOf(name))
        ? undefined
        : `imagePullSecrets[${at}].name="${textOf(name)}" ${notOf(account)} imagePullSecret`,
    )
  )
}

export function ephemeralFault(spec: Fields, account: KubeObject): string | undefined {
  if (!isLimiting(account)) return undefined
  return containerFault(spec['ephemeralContainers'], 'ephemeral container', account)
}

const isLimiting = ({ metadata }: KubeObject): boolean =>
  parseGoBoolean(metadata.annotations?.[enforceAnnotation] ?? '') === true

const namesIn = (references: Json | undefined): ReadonlySet<string> =>
  once(
    'names that an account lists',
    () => new Set(itemsOf(references).map(({ name }) => textOf(name))),
  )

const notOf = ({ metadata }: KubeObject): string =>
  `is not allowed because service account ${metadata.name} does not reference that`

/** Returns the first reference of a container to a secret that the account does not list. */
function containerFault(
  containers: Json | undefined,
  word: string,
  account: KubeObject,
): string | undefined {
  const known = namesIn(account['secrets'])
  return firstOf('secrets of containers', itemsOf(containers), (container) => {
    const faultOf = (where: string, reference: Json | undefined): string | undefined => {
      const secret = textOf(fieldsOf(reference)['name'])
      if (reference === undefined || known.has(secret)) return undefined
      const who = `${word} ${textOf(container['name'])}`
      return `${who} with ${where} referencing secret.secretName="${secret}" ${notOf(account)} secret`
    }
    return (
      firstOf('secrets of variables', itemsOf(container['env']), ({ name, valueFrom }) =>
        faultOf(`envVar ${textOf(name)}`, fieldsOf(valueFrom)['secretKeyRef']),
      ) ??
      firstOf('secrets of sources of variables', itemsOf(container['envFrom']), ({ secretRef }) =>
        faultOf('envFrom', secretRef),
      )
    )
  })
}
