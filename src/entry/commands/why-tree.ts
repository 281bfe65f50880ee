/** Formats the response of /debug/authorization as a short tree for humans. */
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../api/object.ts'

type Node = { readonly text: string; readonly below: readonly Node[] }

const leaf = (text: string): Node => ({ text, below: [] })

/** Formats the tree, and the commands that would allow the request. */
export function printWhy(answer: Fields): string {
  const commands = textsOf(answer['commandsToGrant'])
  const advice = commands.length === 0 ? [] : ['', 'To allow it, run:', ...commands.map(indented)]
  return `${[print(rootOf(answer)), ...advice].join('\n')}\n`
}

const indented = (line: string): string => `  ${printable(line)}`

/**
 * Replaces control and formatting characters, because users choose some of the names and the text
 * is printed to a terminal. A line feed in a name could add lines that look like commands to run.
 */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')

function rootOf(answer: Fields): Node {
  const { user, attributes, allowed, grantedBy } = answer
  const who = textOf(fieldsOf(user)['name'])
  const may = allowed === true ? 'may' : 'may not'
  const master = textOf(fieldsOf(grantedBy)['group'])
  return {
    text: `${who} ${may} ${whatOf(fieldsOf(attributes))}`,
    below: [
      ...(master === '' ? [] : [leaf(`the group ${master} may do everything`)]),
      ...itemsOf(answer['authorizers']).map(authorizerNode),
    ],
  }
}

function whatOf({ verb, path, apiGroup, resource, subresource, namespace, name }: Fields): string {
  if (path !== undefined) return `${textOf(verb)} ${textOf(path)}`
  const group = textOf(apiGroup)
  const kind = `${textOf(resource)}${subresource === undefined ? '' : `/${textOf(subresource)}`}`
  const which = name === undefined ? '' : ` ${textOf(name)}`
  const where = namespace === undefined ? 'in the cluster' : `in the namespace ${textOf(namespace)}`
  return `${textOf(verb)} ${kind}${group === '' ? '' : `.${group}`}${which} ${where}`
}

const words: Readonly<Record<string, string>> = {
  allow: 'allowed',
  deny: 'denied',
  'no-opinion': 'no opinion',
  'not-asked': 'not asked',
}

function authorizerNode(one: Fields): Node {
  const { type, name, decision, reason, error, grantedBy, nearest, missingRoles, policies } = one
  const verdict = textOf(decision)
  const grant = fieldsOf(grantedBy)
  const isShown = grantedBy !== undefined
  const near = itemsOf(nearest)
  return {
    text: `${textOf(type)} (${textOf(name)}): ${words[verdict] ?? verdict}`,
    below: [
      ...(isShown ? grantNodes(grant) : []),
      ...(reason === undefined || isShown ? [] : [leaf(`reason: ${textOf(reason)}`)]),
      ...(error === undefined ? [] : [leaf(`error: ${textOf(error)}`)]),
      ...(near.length === 0 ? [] : [{ text: 'closest grants:', below: near.map(nearNode) }]),
      ...itemsOf(missingRoles).map((missing) =>
        leaf(`${bindingOf(missing)}: ${roleOf(missing)} does not exist`),
      ),
      ...itemsOf(policies).map((policy) => leaf(`policy of the user: ${JSON.stringify(policy)}`)),
    ],
  }
}

function grantNodes(grant: Fields): Node[] {
  if (grant['policy'] !== undefined)
    return [leaf(`by the policy ${JSON.stringify(grant['policy'])}`)]
  return [{ text: `by ${bindingOf(grant)} to ${subjectOf(grant)}`, below: [ruleNode(grant)] }]
}

const differing: Readonly<Record<string, string>> = {
  namespace: 'in another namespace',
  verb: 'other verbs',
  name: 'other names',
  resource: 'other resources',
  path: 'other paths',
}

const nearNode = (grant: Fields): Node => ({
  text: `${differing[textOf(grant['differs'])] ?? ''}: ${bindingOf(grant)} to ${subjectOf(grant)}`,
  below: [ruleNode(grant)],
})

const ruleNode = (grant: Fields): Node =>
  leaf(`${roleOf(grant)}: ${ruleOf(fieldsOf(grant['rule']))}`)

function bindingOf({ binding }: Fields): string {
  const { kind, namespace, name } = fieldsOf(binding)
  return `${textOf(kind)} ${namespace === undefined ? '' : `${textOf(namespace)}/`}${textOf(name)}`
}

function subjectOf({ subject }: Fields): string {
  const { kind, namespace, name } = fieldsOf(subject)
  return `${textOf(kind)} ${namespace === undefined ? '' : `${textOf(namespace)}/`}${textOf(name)}`
}

function roleOf({ role }: Fields): string {
  const { kind, name } = fieldsOf(role)
  return `${textOf(kind)} ${textOf(name)}`
}

function ruleOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Fields): string {
  const groups = textsOf(apiGroups).filter((group) => group !== '')
  const what = [...textsOf(resources), ...textsOf(nonResourceURLs)].join(',')
  const names = textsOf(resourceNames)
  return [
    `${textsOf(verbs).join(',')} ${what}`,
    ...(groups.length === 0 ? [] : [`of ${groups.join(',')}`]),
    ...(names.length === 0 ? [] : [`named ${names.join(',')}`]),
  ].join(' ')
}

function print({ text, below }: Node, indent = ''): string {
  const lines = below.map((node, at) => {
    const isLast = at === below.length - 1
    const printed = print(node, `${indent}${isLast ? '   ' : '│  '}`)
    return `${indent}${isLast ? '└─ ' : '├─ '}${printed}`
  })
  return [printable(text), ...lines].join('\n')
}
