/**
 * Writes the kubectl commands that create the smallest role and binding for a request. They are
 * part of the explanation of a rejected request.
 */
import type { AccessAttributes } from '../../api/access.ts'
import type { User } from '../../api/user.ts'
import { parseAccountUserName } from '../../api/service-account.ts'

/** Maximum length of an object name that kubectl and Keelson accept. */
const NAME_LENGTH_MAX = 253

/**
 * Returns two commands, or an empty list if kubectl cannot create a rule for the request. The
 * commands grant only the verb of the request on the resource of the request. If the request has a
 * namespace or a name, the grant is limited to them.
 */
export function grantCommands(user: User, attributes: AccessAttributes): readonly string[] {
  const rule = ruleFlags(attributes)
  if (rule === undefined || hasControl.test(user.name)) return []
  const namespace = attributes.kind === 'path' ? '' : attributes.namespace
  const [role, binding] =
    namespace === '' ? ['clusterrole', 'clusterrolebinding'] : ['role', 'rolebinding']
  const name = quoted(roleName(user, attributes))
  const where = namespace === '' ? '' : ` -n ${quoted(namespace)}`
  return [
    `kubectl create ${role} ${name} ${rule}${where}`,
    `kubectl create ${binding} ${name} --${role}=${name} ${subjectFlag(user)}${where}`,
  ]
}

/**
 * The API group of the resources `uids` and `userextras`, which exist only in rules about
 * impersonation. Discovery does not list them, so kubectl cannot create rules for them.
 */
const unlistedGroup = 'authentication.k8s.io'

function ruleFlags(attributes: AccessAttributes): string | undefined {
  const verb = `--verb=${quoted(attributes.verb)}`
  if (attributes.kind === 'path') {
    const { path } = attributes
    if (hasControl.test(path) || isWider.test(`${attributes.verb}${path}`)) return undefined
    return `${verb} --non-resource-url=${quoted(path)}`
  }
  const { group, plural, subresource, name } = attributes
  const all = [attributes.verb, group, plural, subresource, name, attributes.namespace]
  if (group === unlistedGroup || all.some((text) => hasControl.test(text))) return undefined
  if (isWider.test(`${attributes.verb}${group}${plural}${subresource}`)) return undefined
  const inGroup = group === '' ? plural : `${plural}.${group}`
  const resource = subresource === '' ? inGroup : `${inGroup}/${subresource}`
  const named = name === '' ? '' : ` --resource-name=${quoted(name)}`
  return `${verb} --resource=${quoted(resource)}${named}`
}

/**
 * Matches control and format characters. On a terminal, they could hide a part of a command from
 * its reader.
 */
const hasControl = /\p{Cc}|\p{Cf}/u
/**
 * Matches characters that would let a command allow more than the request. kubectl parses verbs,
 * resources and paths as CSV, so a command for the path `/a,/b` would allow both paths. An asterisk
 * is a wildcard in a rule.
 */
const isWider = /[",*]/

function subjectFlag({ name }: User): string {
  const account = parseAccountUserName(name)
  return account === undefined
    ? `--user=${quoted(name)}`
    : `--serviceaccount=${quoted(`${account.namespace}:${account.name}`)}`
}

/** Returns a name such as `alice-get-pods`. */
function roleName({ name }: User, attributes: AccessAttributes): string {
  const account = parseAccountUserName(name)?.name ?? name
  const what =
    attributes.kind === 'path'
      ? attributes.path
      : `${attributes.plural}${attributes.subresource === '' ? '' : `-${attributes.subresource}`}`
  return `${account}-${attributes.verb}-${what}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .slice(0, NAME_LENGTH_MAX)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

/** Quotes an argument for a POSIX shell if needed. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
