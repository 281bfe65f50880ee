import { fieldsOf, type Json, type KubeObject } from '../../../api/object.ts'
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

/** References to secrets are reduced to the name. */
function withPlainSecrets(object: KubeObject): KubeObject {
  const { secrets } = object
  if (!Array.isArray(secrets)) return object
  return { ...object, secrets: secrets.map((secret: Json) => nameOnly(fieldsOf(secret)['name'])) }
}

const nameOnly = (name: Json | undefined): Json => (name === undefined ? {} : { name })
