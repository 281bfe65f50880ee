import {
  checked,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  notSupportedShown,
  required,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { isEqualAs } from '../../rules/equality.ts'
import type { KindRules } from '../../kind-rules.ts'
import { mandatoryFlowSchemas } from './mandatory.ts'
import { validateConditionTypes } from './status.ts'

const PRECEDENCE_MAX = 10_000
const distinguishers = ['ByNamespace', 'ByUser']
const verbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'proxy',
  'update',
  'watch',
]

export const flowSchemaRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'rules'],
    statusKeeps: 'metadata',
    generation: { fields: ['spec'] },
  },
  validate,
  status: { validateUpdate: validateConditionTypes },
}

function validate(schema: KubeObject): FieldFault[] {
  const { name = '' } = schema.metadata
  const spec = fieldsOf(schema['spec'])
  return [
    ...validatePrecedence(numberOf(spec['matchingPrecedence']), name),
    ...validateDistinguisher(spec['distinguisherMethod']),
    ...validateLevel(textOf(fieldsOf(spec['priorityLevelConfiguration'])['name'])),
    ...faultsOfEach(itemsOf(spec['rules']), (rule, at) => validateRule(rule, `spec.rules[${at}]`)),
    ...validateMandatory(spec, name),
  ]
}

function validatePrecedence(precedence: number, name: string): FieldFault[] {
  const path = 'spec.matchingPrecedence'
  const faults: FieldFault[] = []
  if (precedence <= 0) faults.push(invalidValue(path, precedence, 'must be a positive value'))
  if (precedence > PRECEDENCE_MAX) {
    faults.push(invalidValue(path, precedence, `must not be greater than ${PRECEDENCE_MAX}`))
  }
  if (precedence === 1 && name !== 'exempt') {
    faults.push(
      invalidValue(
        path,
        precedence,
        "only the schema named 'exempt' may have matchingPrecedence 1",
      ),
    )
  }
  return faults
}

function validateDistinguisher(method: Fields[string]): FieldFault[] {
  if (method === undefined) return []
  const type = textOf(fieldsOf(method)['type'])
  if (distinguishers.includes(type)) return []
  const shown = `flowcontrol.FlowDistinguisherMethod{Type:${quote(type)}}`
  return [notSupportedShown('spec.distinguisherMethod.type', shown, distinguishers)]
}

function validateLevel(name: string): FieldFault[] {
  const path = 'spec.priorityLevelConfiguration.name'
  return name === ''
    ? [required(path, 'must reference a priority level')]
    : checked(path, name, checkDnsSubdomain)
}

function validateRule(rule: Fields, path: string): FieldFault[] {
  const [subjects, ofResources, ofUrls] = [
    rule['subjects'],
    rule['resourceRules'],
    rule['nonResourceRules'],
  ].map(itemsOf)
  const faults: FieldFault[] = []
  if (subjects?.length === 0) {
    faults.push(required(`${path}.subjects`, 'subjects must contain at least one value'))
  }
  if (ofResources?.length === 0 && ofUrls?.length === 0) {
    const why = 'at least one of resourceRules and nonResourceRules has to be non-empty'
    faults.push(required(path, why))
  }
  return [
    ...faults,
    ...faultsOfEach(subjects ?? [], (subject, at) =>
      validateSubject(subject, `${path}.subjects[${at}]`),
    ),
    ...faultsOfEach(ofResources ?? [], (one, at) =>
      validateResourceRule(one, `${path}.resourceRules[${at}]`),
    ),
    ...faultsOfEach(ofUrls ?? [], (one, at) =>
      validateUrlRule(one, `${path}.nonResourceRules[${at}]`),
    ),
  ]
}

/** The kinds of subjects, each with the field that describes such a subject. */
const partOfKind: readonly (readonly [string, string])[] = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
]

function validateSubject(subject: Fields, path: string): FieldFault[] {
  const kind = textOf(subject['kind'])
  const own = partOfKind.find(([known]) => known === kind)?.[1]
  if (own === undefined)
    return [notSupported(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User'])]
  const part = subject[own]
  const faults =
    part === undefined
      ? [required(`${path}.${own}`, `${own} is required when subject kind is '${kind}'`)]
      : own === 'serviceAccount'
        ? validateAccount(fieldsOf(part), `${path}.${own}`)
        : textOf(fieldsOf(part)['name']) === ''
          ? [required(`${path}.${own}.name`)]
          : []
  const others = partOfKind.filter(([, field]) => field !== own && subject[field] !== undefined)
  return [
    ...faults,
    ...others.map(([other, field]) =>
      forbiddenField(
        `${path}.${field}`,
        `${field} is forbidden when subject kind is not '${other}'`,
      ),
    ),
  ]
}

function validateAccount(account: Fields, path: string): FieldFault[] {
  const [name, namespace] = [textOf(account['name']), textOf(account['namespace'])]
  return [
    ...(name === ''
      ? [required(`${path}.name`)]
      : name === '*'
        ? []
        : checked(`${path}.name`, name, checkDnsSubdomain)),
    ...(namespace === ''
      ? [required(`${path}.namespace`, 'must specify namespace for service account')]
      : checked(`${path}.namespace`, namespace, checkDnsLabel)),
  ]
}

function validateResourceRule(rule: Fields, path: string): FieldFault[] {
  const namespaces = textsOf(rule['namespaces'])
  const why = 'resource rules that are not cluster scoped must supply at least one namespace'
  return [
    ...validateVerbs(textsOf(rule['verbs']), `${path}.verbs`),
    ...validateNames(textsOf(rule['apiGroups']), `${path}.apiGroups`, {
      absent: 'resource rules must supply at least one api group',
      others: 'api groups',
    }),
    ...validateNames(textsOf(rule['resources']), `${path}.resources`, {
      absent: 'resource rules must supply at least one resource',
      others: 'resources',
    }),
    ...(namespaces.length === 0 && rule['clusterScope'] === true
      ? []
      : validateNames(namespaces, `${path}.namespaces`, {
          absent: why,
          others: 'namespaces',
          check: (namespace, at) =>
            namespace === '*'
              ? []
              : checkDnsLabel(namespace).map((fault) =>
                  invalidValue(
                    at,
                    namespace,
                    `each member of this list must be '*' or a DNS-1123 label; ${fault}`,
                  ),
                ),
        })),
  ]
}

function validateUrlRule(rule: Fields, path: string): FieldFault[] {
  return [
    ...validateVerbs(textsOf(rule['verbs']), `${path}.verbs`),
    ...validateNames(textsOf(rule['nonResourceURLs']), `${path}.nonResourceURLs`, {
      absent: 'nonResourceURLs must contain at least one value',
      others: 'non-resource URLs',
      check: (url, at) => {
        const why = urlFault(url)
        return why === undefined ? [] : [invalidValue(at, url, why)]
      },
    }),
  ]
}

function urlFault(url: string): string | undefined {
  if (url === '*') return undefined
  if (url === '') return 'must not be empty'
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const isFine = !url.includes('*') || url.indexOf('*') === url.length - 1
  return isFine && !/[^/]\*$/.test(url) ? undefined : 'wildcard can only do suffix matching'
}

function validateVerbs(given: readonly string[], path: string): FieldFault[] {
  const faults = validateNames(given, path, {
    absent: 'verbs must contain at least one value',
    others: 'verbs',
  })
  if (faults.length > 0 || given.includes('*') || given.every((verb) => verbs.includes(verb)))
    return faults
  return [notSupportedShown(path, goStrings(given), verbs)]
}

type Names = {
  readonly absent: string
  /** Description, in messages, of the items that must not occur together with `*`. */
  readonly others: string
  readonly check?: (name: string, path: string) => FieldFault[]
}

function validateNames(
  names: readonly string[],
  path: string,
  { absent, others, check }: Names,
): FieldFault[] {
  if (names.length === 0) return [required(path, absent)]
  if (names.length > 1 && names.includes('*')) {
    return [
      invalidShown(path, goStrings(names), `if '*' is present, must not specify other ${others}`),
    ]
  }
  return [...faultsOfEach(names, (name, at) => check?.(name, `${path}[${at}]`) ?? [])]
}

function validateMandatory(spec: Fields, name: string): FieldFault[] {
  const fixed = mandatoryFlowSchemas.get(name)
  if (fixed === undefined || isEqualAs('flowcontrol/v1 FlowSchemaSpec', spec, fixed)) return []
  const type = 'flowcontrol.FlowSchemaSpec'
  return [
    invalidShown('spec', `${type}{...}`, `spec of '${name}' must equal the fixed value`, {
      type,
      json: spec,
    }),
  ]
}
