/**
 * Formats an event as one line of text, which is derived from its JSON (audit log format `legacy`).
 * The log lines about lost events also use this format.
 */
import { parseText } from '../../api/json-value.ts'
import { fieldsOf, numberOf, textOf, textsOf } from '../../api/object.ts'
import { quoteWhole } from '../../api/quote.ts'

/**
 * Returns the line without a newline. `json` need not contain the request and response objects.
 * Lists are quoted twice, as in kube-apiserver.
 */
export function legacyLine(json: string): string {
  const event = fieldsOf(parseText(json))
  const user = fieldsOf(event['user'])
  const name = textOf(user['username'])
  const groups = textsOf(user['groups'])
  const impersonated =
    event['impersonatedUser'] === undefined ? undefined : fieldsOf(event['impersonatedUser'])
  const { code } = fieldsOf(event['responseStatus'])
  const parts: readonly (readonly [string, string])[] = [
    ['id', textOf(event['auditID'])],
    ['stage', textOf(event['stage'])],
    ['ip', textsOf(event['sourceIPs'])[0] ?? '<unknown>'],
    ['method', textOf(event['verb'])],
    ['user', name || '<none>'],
    ['groups', name !== '' && groups.length > 0 ? quoteAll(groups) : '<none>'],
    ['as', impersonated === undefined ? '<self>' : textOf(impersonated['username'])],
    [
      'asgroups',
      impersonated === undefined ? '<lookup>' : quoteAll(textsOf(impersonated['groups'])),
    ],
    ['user-agent', textOf(event['userAgent'])],
    ['namespace', textOf(fieldsOf(event['objectRef'])['namespace']) || '<none>'],
    ['uri', textOf(event['requestURI'])],
    ['response', code === undefined ? '<deferred>' : `${numberOf(code)}`],
  ]
  const time = textOf(event['requestReceivedTimestamp']).replace(/\.?0*Z$/, 'Z')
  return `${time} AUDIT: ${parts.map(([key, value]) => `${key}=${quoteWhole(value)}`).join(' ')}`
}

const quoteAll = (texts: readonly string[]): string => texts.map(quoteWhole).join(',')
