/**
 * Validation of names, labels and keys, with kube-apiserver's messages. Each function returns the
 * errors, or an empty list if the value is valid.
 */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const underscoredLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const underscoredSubdomain = `${underscoredLabel}(\\.${underscoredLabel})*`
const qualifiedPart = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelText = `(${qualifiedPart})?`
const dns1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const variableName = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const configKey = '[-._a-zA-Z0-9]+'
const wildcard = `\\*\\.${subdomain}`
const urlPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`)
const patterns = {
  label: whole(label),
  dns1035: whole(dns1035),
  subdomain: whole(subdomain),
  underscoredSubdomain: whole(underscoredSubdomain),
  qualifiedPart: whole(qualifiedPart),
  labelText: whole(labelText),
  configKey: whole(configKey),
  variableName: whole(variableName),
  wildcard: whole(wildcard),
  urlPath: whole(urlPath),
} as const

const LABEL_CHARACTERS_MAX = 63
const SUBDOMAIN_CHARACTERS_MAX = 253

const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const qualifiedPartRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const wildcardRule =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
const labelTextRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

/**
 * Returns the message for a rule that a name violates. As in kube-apiserver, each example is
 * followed by a comma and a space, so there are two spaces before `or`.
 */
function broken(rule: string, examples: readonly string[], pattern: string): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`
}

const atMost = (charactersMax: number): string => `must be no more than ${charactersMax} characters`
const bytesAtMost = (bytesMax: number): string => `must be no more than ${bytesMax} bytes`

export function checkDnsLabel(name: string): string[] {
  const faults = name.length > LABEL_CHARACTERS_MAX ? [atMost(LABEL_CHARACTERS_MAX)] : []
  if (patterns.label.test(name)) return faults
  const isSubdomain = patterns.subdomain.test(name)
  return [
    ...faults,
    isSubdomain ? 'must not contain dots' : broken(labelRule, ['my-name', '123-abc'], label),
  ]
}

export function checkDnsSubdomain(name: string): string[] {
  const faults = name.length > SUBDOMAIN_CHARACTERS_MAX ? [atMost(SUBDOMAIN_CHARACTERS_MAX)] : []
  return patterns.subdomain.test(name)
    ? faults
    : [...faults, broken(subdomainRule, ['example.com'], subdomain)]
}

/** Like `checkDnsSubdomain`, but the error of a long name counts bytes. */
export function checkLongName(name: string): string[] {
  const max = SUBDOMAIN_CHARACTERS_MAX
  return checkDnsSubdomain(name).map((fault) => (fault === atMost(max) ? bytesAtMost(max) : fault))
}

/**
 * The first release whose message about a DNS search path has the pattern with underscores, instead
 * of the pattern of other names.
 */
const OWN_PATTERN_SINCE = 34

/** Checks a DNS search path, which may contain underscores. */
export function checkUnderscoredSubdomain(name: string, release: number): string[] {
  const faults = name.length > SUBDOMAIN_CHARACTERS_MAX ? [atMost(SUBDOMAIN_CHARACTERS_MAX)] : []
  if (patterns.underscoredSubdomain.test(name)) return faults
  const rule = subdomainRule.replace("'-' or", "'_', '-' or")
  const pattern = release < OWN_PATTERN_SINCE ? subdomain : underscoredSubdomain
  return [...faults, broken(rule, ['example.com'], pattern)]
}

/** Checks a wildcard such as `*.example.com`, which matches all names below a domain. */
export function checkWildcardSubdomain(name: string): string[] {
  const faults = name.length > SUBDOMAIN_CHARACTERS_MAX ? [atMost(SUBDOMAIN_CHARACTERS_MAX)] : []
  if (patterns.wildcard.test(name)) return faults
  return [...faults, broken(wildcardRule, ['*.example.com'], wildcard)]
}

/** Checks a path such as `example.com/a/path`. Returns the errors of each part. */
export function checkDomainPrefixedPath(
  path: string,
): { readonly value: string; readonly why: string }[] {
  const slash = path.indexOf('/')
  const [domain, rest] = [path.slice(0, Math.max(slash, 0)), path.slice(slash + 1)]
  if (domain === '' || rest === '') {
    return [{ value: path, why: 'must be a domain-prefixed path (such as "acme.io/foo")' }]
  }
  const faults = checkDnsSubdomain(domain).map((why) => ({ value: domain, why }))
  if (patterns.urlPath.test(rest)) return faults
  return [
    ...faults,
    { value: rest, why: `Invalid path (regex used for validation is '${urlPath}')` },
  ]
}

/** Checks the rules that apply to every name, because names become segments of URL paths. */
export function checkPathSegment(name: string): string[] {
  if (name === '.') return ["may not be '.'"]
  if (name === '..') return ["may not be '..'"]
  return checkPathSegmentPrefix(name)
}

/**
 * Checks the rules for a generateName. Unlike a name, it can be `.` or `..`, because a suffix is
 * appended.
 */
export function checkPathSegmentPrefix(name: string): string[] {
  const faults: string[] = []
  if (name.includes('/')) faults.push("may not contain '/'")
  if (name.includes('%')) faults.push("may not contain '%'")
  return faults
}

/** The first release whose texts about label keys and values have the form of this file. */
const LABEL_TEXTS_SINCE = 35

/**
 * Returns the text of `checkQualifiedName` or `checkLabelValue` as a release has it. Also accepts a
 * message that ends with such a text. Before 1.35, the texts count characters instead of bytes.
 */
export function labelTextOf(text: string, release: number): string {
  if (release >= LABEL_TEXTS_SINCE) return text
  return text.endsWith(BROKEN_KEY)
    ? `${text.slice(0, -BROKEN_KEY.length)}a qualified name ${KEY_RULE}`
    : text.replace(/must be no more than (63|253) bytes$/, 'must be no more than $1 characters')
}

/** Returns the text of the releases before 1.35, for errors that do not follow the release. */
export const olderLabelText = (text: string): string => labelTextOf(text, LABEL_TEXTS_SINCE - 1)

/**
 * Checks the key of a label or an annotation, which has the form `name` or `domain/name`. The texts
 * are those of 1.35: see `labelTextOf`.
 */
export function checkQualifiedName(key: string): string[] {
  // Most keys have no prefix. This shortcut matters because an object can have tens of thousands of
  // keys.
  if (key.length <= LABEL_CHARACTERS_MAX && patterns.qualifiedPart.test(key)) return []
  const parts = key.split('/')
  const [first = '', second] = parts
  if (parts.length > 2) {
    return [BROKEN_KEY]
  }
  const prefixFaults =
    second === undefined
      ? []
      : first === ''
        ? ['prefix part must be non-empty']
        : checkLongName(first).map((fault) => `prefix part ${fault}`)
  return [...prefixFaults, ...checkQualifiedPart(second ?? first)]
}

function checkQualifiedPart(part: string): string[] {
  if (part === '') return ['name part must be non-empty', BROKEN_PART]
  const faults =
    part.length > LABEL_CHARACTERS_MAX ? [`name part ${bytesAtMost(LABEL_CHARACTERS_MAX)}`] : []
  return patterns.qualifiedPart.test(part) ? faults : [...faults, BROKEN_PART]
}

const PART_RULE = broken(qualifiedPartRule, ['MyName', 'my.name', '123-abc'], qualifiedPart)
const KEY_RULE = `${PART_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
const BROKEN_KEY = `a valid label key ${KEY_RULE}`
const BROKEN_PART = `name part ${PART_RULE}`

/** Checks the value of a label. The texts are those of 1.35: see `labelTextOf`. */
export function checkLabelValue(value: string): string[] {
  const faults = value.length > LABEL_CHARACTERS_MAX ? [bytesAtMost(LABEL_CHARACTERS_MAX)] : []
  if (patterns.labelText.test(value)) return faults
  return [...faults, broken(labelTextRule, ['MyValue', 'my_value', '12345'], labelText)]
}

/**
 * Checks the name of an environment variable: a C identifier that can also contain dots and dashes.
 */
export function checkVariableName(name: string): string[] {
  const rule =
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit"
  const examples = ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1']
  return [
    ...(patterns.variableName.test(name) ? [] : [broken(rule, examples, variableName)]),
    ...checkNoFolder(name),
  ]
}

/** Checks a key of the data of a ConfigMap or a Secret. */
export function checkConfigKey(key: string): string[] {
  const faults = key.length > SUBDOMAIN_CHARACTERS_MAX ? [atMost(SUBDOMAIN_CHARACTERS_MAX)] : []
  if (!patterns.configKey.test(key)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    return [...faults, broken(rule, ['key.name', 'KEY_NAME', 'key-name'], configKey)]
  }
  return [...faults, ...checkNoFolder(key)]
}

/**
 * Checks a name that is used as a file name. The name must not refer to a location outside of its
 * directory.
 */
function checkNoFolder(name: string): string[] {
  if (name === '.' || name === '..') return [`must not be '${name}'`]
  return name.startsWith('..') ? ["must not start with '..'"] : []
}

const dns1035Rule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"

/** Checks a label that starts with a letter. */
export function checkDns1035Label(name: string): string[] {
  const faults = name.length > LABEL_CHARACTERS_MAX ? [atMost(LABEL_CHARACTERS_MAX)] : []
  if (patterns.dns1035.test(name)) return faults
  return [...faults, broken(dns1035Rule, ['my-name', 'abc-123'], dns1035)]
}

/** Finalizers that are valid without a domain. */
const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion']

export const isStandardFinalizer = (name: string): boolean => standardFinalizers.includes(name)

/**
 * Checks a finalizer of a namespace, which is a qualified name. All finalizers except the standard
 * ones need a domain.
 */
export function checkFinalizerName(name: string): string[] {
  const faults = checkQualifiedName(name)
  if (name.includes('/') || isStandardFinalizer(name)) return faults
  return [...faults, 'name is neither a standard finalizer name nor is it fully qualified']
}
