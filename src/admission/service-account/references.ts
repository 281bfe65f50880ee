/** Which secrets a pod may name: none in a mirror pod; else those of its service account, where the account asks for that. */
import { type Fields, fieldsOf, itemsOf, type Json, type KubeObject, textOf } from '../../api/object.ts'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

export function mirrorPodFault(spec: Fields): string | undefined {
  if (textOf(spec['serviceAccountName']) !== '') return 'a mirror pod may not reference service accounts'
  if (namesSecrets(spec)) return 'a mirror pod may not reference secrets'
  const sources = itemsOf(spec['volumes']).flatMap(({ projected }) => itemsOf(fieldsOf(projected)['sources']))
  const hasToken = sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)
  return hasToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined
}

/** Secrets stand in fields of a few names only, wherever a pod has them. */
const secretFields: ReadonlySet<string> = new Set([
  'secret',
  'secretRef',
  'secretKeyRef',
  'secretName',
  'imagePullSecrets',
  'nodePublishSecretRef',
])

function namesSecrets(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(namesSecrets)
  return Object.entries(fieldsOf(value)).some(
    ([field, inner]) => (secretFields.has(field) && inner !== undefined) || namesSecrets(inner),
  )
}

export function secretFault(
  spec: Fields,
  account: KubeObject,
  { isNew }: { readonly isNew: boolean },
): string | undefined {
  if (account.metadata.annotations?.[enforceAnnotation] !== 'true') return undefined
  const known = new Set(itemsOf(account['secrets']).map(({ name }) => textOf(name)))
  const of = `is not allowed because service account ${account.metadata.name} does not reference that`
  const inContainers = (list: string, word: string): string[] =>
    itemsOf(spec[list]).flatMap((container) =>
      containerFaults(container, word, known).map((fault) => `${fault} ${of} secret`),
    )
  if (!isNew) return inContainers('ephemeralContainers', 'ephemeral container')[0]
  const volumes = itemsOf(spec['volumes']).flatMap(({ secret }) => {
    const name = textOf(fieldsOf(secret)['secretName'])
    return secret === undefined || known.has(name) ? [] : [`volume with secret.secretName="${name}" ${of} secret`]
  })
  const pullable = new Set(itemsOf(account['imagePullSecrets']).map(({ name }) => textOf(name)))
  const pulled = itemsOf(spec['imagePullSecrets']).flatMap(({ name }, at) =>
    pullable.has(textOf(name)) ? [] : [`imagePullSecrets[${at}].name="${textOf(name)}" ${of} imagePullSecret`],
  )
  const [first] = [
    ...volumes,
    ...inContainers('initContainers', 'init container'),
    ...inContainers('containers', 'container'),
    ...pulled,
  ]
  return first
}

function containerFaults(container: Fields, word: string, known: ReadonlySet<string>): string[] {
  const who = `${word} ${textOf(container['name'])}`
  const env = itemsOf(container['env']).flatMap(({ name, valueFrom }) => {
    const reference = fieldsOf(valueFrom)['secretKeyRef']
    const secret = textOf(fieldsOf(reference)['name'])
    if (reference === undefined || known.has(secret)) return []
    return [`${who} with envVar ${textOf(name)} referencing secret.secretName="${secret}"`]
  })
  const envFrom = itemsOf(container['envFrom']).flatMap(({ secretRef }) => {
    const secret = textOf(fieldsOf(secretRef)['name'])
    if (secretRef === undefined || known.has(secret)) return []
    return [`${who} with envFrom referencing secret.secretName="${secret}"`]
  })
  return [...env, ...envFrom]
}
