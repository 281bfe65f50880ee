import { fieldsOf, type Json, type KubeObject } from '../../../api/object.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import type { KindRules } from '../../kind-rules.ts'

const mountableAnnotation = 'kubernetes.io/enforce-mountable-secrets'

export const serviceAccountRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'], returnsDeleted: true },
  prepareCreate: withPlainSecrets,
  prepareUpdate: withPlainSecrets,
  warnings: (object, current) => {
    const isGiven = object.metadata.annotations?.[mountableAnnotation] !== undefined
    const wasGiven = current?.metadata.annotations?.[mountableAnnotation] !== undefined
    if (!isGiven || wasGiven) return []
    return [
      `metadata.annotations[${mountableAnnotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ]
  },
}

/** Removes all fields except the name from references to Secrets. */
function withPlainSecrets(object: KubeObject): KubeObject {
  const { secrets } = object
  if (!Array.isArray(secrets)) return object
  const named = mapEach('names of secrets', secrets, (secret: Json) =>
    nameOnly(fieldsOf(secret)['name']),
  )
  return { ...object, secrets: named }
}

const nameless: Json = {}

const nameOnly = (name: Json | undefined): Json => (name === undefined ? nameless : { name })
