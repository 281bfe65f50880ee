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
import { parseGoBoolean } from '../../lib/text/go-literals.ts'
import { secretNames } from '../../registry/kinds/core/pod/references.ts'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

export function mirrorPodFault(spec: Fields): string | undefined {
  if (textOf(spec['serviceAccountName']) !== '')
    return 'a mirror pod may not reference service accounts'
  if (secretNames(spec).length > 0) return 'a mirror pod may not reference secrets'
  const sources = itemsOf(spec['volumes']).flatMap(({ projected }) =>
    itemsOf(fieldsOf(projected)['sources']),
  )
  const hasToken = sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)
  return hasToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined
}

export function secretFault(spec: Fields, account: KubeObject): string | undefined {
  if (!isLimiting(account)) return undefined
  const known = namesIn(account['secrets'])
  const pullable = namesIn(account['imagePullSecrets'])
  const volumes = itemsOf(spec['volumes']).flatMap(({ secret }) => {
    const name = textOf(fieldsOf(secret)['secretName'])
    return secret === undefined || known.has(name)
      ? []
      : [`volume with secret.secretName="${name}" ${notOf(account)} secret`]
  })
  const pulled = itemsOf(spec['imagePullSecrets']).flatMap(({ name }, at) =>
    pullable.has(textOf(name))
      ? []
      : [`imagePullSecrets[${at}].name="${textOf(name)}" ${notOf(account)} imagePullSecret`],
  )
  const [first] = [
    ...volumes,
    ...containerFaults(spec['initContainers'], 'init container', account),
    ...containerFaults(spec['containers'], 'container', account),
    ...pulled,
  ]
  return first
}

export function ephemeralFault(spec: Fields, account: KubeObject): string | undefined {
  if (!isLimiting(account)) return undefined
  return containerFaults(spec['ephemeralContainers'], 'ephemeral container', account)[0]
}

const isLimiting = ({ metadata }: KubeObject): boolean =>
  parseGoBoolean(metadata.annotations?.[enforceAnnotation] ?? '') === true

const namesIn = (references: Json | undefined): ReadonlySet<string> =>
  new Set(itemsOf(references).map(({ name }) => textOf(name)))

const notOf = ({ metadata }: KubeObject): string =>
  `is not allowed because service account ${metadata.name} does not reference that`

function containerFaults(
  containers: Json | undefined,
  word: string,
  account: KubeObject,
): string[] {
  const known = namesIn(account['secrets'])
  return itemsOf(containers).flatMap((container) => {
    const who = `${word} ${textOf(container['name'])}`
    const named = [
      ...itemsOf(container['env']).map(
        ({ name, valueFrom }) =>
          [`envVar ${textOf(name)}`, fieldsOf(valueFrom)['secretKeyRef']] as const,
      ),
      ...itemsOf(container['envFrom']).map(({ secretRef }) => ['envFrom', secretRef] as const),
    ]
    return named.flatMap(([where, reference]) => {
      const secret = textOf(fieldsOf(reference)['name'])
      if (reference === undefined || known.has(secret)) return []
      return [
        `${who} with ${where} referencing secret.secretName="${secret}" ${notOf(account)} secret`,
      ]
    })
  })
}
