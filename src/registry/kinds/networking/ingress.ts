import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { parseIp } from '../../../api/ip.ts'
import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkWildcardSubdomain,
} from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { notAName, validateIngressPoint } from '../../rules/load-balancer-status.ts'
import { checkPortName, checkPortNumber } from '../../rules/ports.ts'
import { validateTypedReference } from '../../rules/references.ts'

/** Annotation that specified the ingress class before the field existed. */
const classAnnotation = 'kubernetes.io/ingress.class'
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'] as const
/**
 * Character sequences that a path must not contain. In addition, a path must not end with one of
 * `badEnds`.
 */
const badSequences = ['//', '/./', '/../', '%2f', '%2F'] as const
const badEnds = ['/..', '/.'] as const

export const ingressRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'], generation: { fields: ['spec'] } },
  validate: (object, gates) => [
    ...validateSpec(fieldsOf(object['spec']), serviceNameCheck(gates)),
    ...validateClassAnnotation(object),
  ],
  validateUpdate: (object, current, gates) =>
    validateSpec(fieldsOf(object['spec']), serviceNameCheck(gates, fieldsOf(current['spec']))),
  warnings: (object, current) => (current === undefined ? classWarnings(object) : []),
  status: { validateUpdate: validateStatus },
}

type Check = (name: string) => string[]

/** The first release in which names can begin with a digit. */
const DIGITS_SINCE = 34

/**
 * Returns the rule for names of Services. If the gate is off, an Ingress that already has a name
 * with a digit at its beginning can have other such names.
 */
function serviceNameCheck(gates: Gates, before: Fields = {}): Check {
  const isRelaxed =
    gates.release >= DIGITS_SINCE &&
    (gates.isOn('RelaxedServiceNameValidation') || hasRelaxedName(before, gates))
  return isRelaxed ? checkDnsLabel : checkDns1035Label
}

/** The first release in which the default backend also counts. */
const DEFAULT_COUNTED_SINCE = 35

const isRelaxedBackend = (backend: Json | undefined): boolean => {
  const { service } = fieldsOf(backend)
  const name = textOf(fieldsOf(service)['name'])
  return isFields(service) && /^\d/.test(name) && checkDnsLabel(name).length === 0
}

function hasRelaxedName({ defaultBackend, rules }: Fields, { release }: Gates): boolean {
  return (
    (release >= DEFAULT_COUNTED_SINCE && isRelaxedBackend(defaultBackend)) ||
    itemsOf(rules).some(({ http }) =>
      itemsOf(fieldsOf(http)['paths']).some(({ backend }) => isRelaxedBackend(backend)),
    )
  )
}

function validateSpec(spec: Fields, checkName: Check): FieldFault[] {
  const { defaultBackend, rules, tls, ingressClassName } = spec
  const faults: FieldFault[] = []
  if (itemsOf(rules).length === 0 && !isFields(defaultBackend)) {
    const shown = `[]networking.IngressRule${Array.isArray(rules) ? '{}' : '(nil)'}`
    faults.push(invalidShown('spec', shown, 'either `defaultBackend` or `rules` must be specified'))
  }
  if (isFields(defaultBackend))
    faults.push(...validateBackend('spec.defaultBackend', defaultBackend, checkName))
  return [
    ...faults,
    ...faultsOfEach(itemsOf(rules), (rule, at) =>
      validateRule(`spec.rules[${at}]`, rule, checkName),
    ),
    ...faultsOfEach(itemsOf(tls), (one, at) => validateTls(`spec.tls[${at}]`, one)),
    ...(typeof ingressClassName === 'string'
      ? checked('spec.ingressClassName', ingressClassName, checkDnsSubdomain)
      : []),
  ]
}

function validateRule(path: string, { host, http }: Fields, checkName: Check): FieldFault[] {
  const name = textOf(host)
  return [
    ...(parseIp(name) === undefined ? [] : [invalidValue(`${path}.host`, name, notAName)]),
    ...(name === '' ? [] : checked(`${path}.host`, name, checkHost)),
    ...(isFields(http) ? validateHttp(`${path}.http.paths`, http['paths'], checkName) : []),
  ]
}

const checkHost = (host: string): string[] =>
  host.includes('*') ? checkWildcardSubdomain(host) : checkDnsSubdomain(host)

function validateHttp(path: string, paths: Json | undefined, checkName: Check): FieldFault[] {
  const list = itemsOf(paths)
  if (list.length === 0) return [required(path)]
  return faultsOfEach(list, (one, at) => [
    ...validatePath(`${path}[${at}]`, one),
    ...(typeof one['pathType'] === 'string'
      ? validateBackend(`${path}[${at}].backend`, fieldsOf(one['backend']), checkName)
      : []),
  ])
}

function validatePath(path: string, { pathType, path: text }: Fields): FieldFault[] {
  const type = textOf(pathType)
  const given = textOf(text)
  if (typeof pathType !== 'string')
    return [required(`${path}.pathType`, 'pathType must be specified')]
  if (!pathTypes.some((known) => known === type))
    return [notSupported(`${path}.pathType`, type, pathTypes)]
  const mayBeEmpty = type === 'ImplementationSpecific'
  if (mayBeEmpty && given === '') return []
  const whys = given.startsWith('/') ? [] : ['must be an absolute path']
  if (!mayBeEmpty && given !== '') {
    whys.push(
      ...badSequences
        .filter((part) => given.includes(part))
        .map((part) => `must not contain '${part}'`),
    )
    whys.push(
      ...badEnds.filter((end) => given.endsWith(end)).map((end) => `cannot end with '${end}'`),
    )
  }
  return whys.map((why) => invalidValue(`${path}.path`, given, why))
}

function validateBackend(
  path: string,
  { service, resource }: Fields,
  checkName: Check,
): FieldFault[] {
  const hasResource = isFields(resource)
  if (!isFields(service)) {
    if (hasResource) return validateTypedReference(`${path}.resource`, resource)
    return [invalidValue(path, '', 'resource or service backend is required')]
  }
  if (hasResource) return [invalidValue(path, '', 'cannot set both resource and service backends')]
  const name = textOf(service['name'])
  return [
    ...(name === ''
      ? [required(`${path}.service.name`)]
      : checked(`${path}.service.name`, name, checkName)),
    ...validateBackendPort(path, fieldsOf(service['port'])),
  ]
}

/**
 * Validates a port. If its name and number are both set or both absent, the error has the path of
 * the backend.
 */
function validateBackendPort(path: string, port: Fields): FieldFault[] {
  const name = textOf(port['name'])
  const number = numberOf(port['number'])
  if (name !== '' && number !== 0)
    return [invalidValue(path, '', 'cannot set both port name & port number')]
  if (name !== '') return checked(`${path}.service.port.name`, name, checkPortName)
  if (number === 0) return [required(path, 'port name or number is required')]
  return checkPortNumber(number).map((why) =>
    invalidValue(`${path}.service.port.number`, number, why),
  )
}

function validateTls(path: string, { hosts, secretName }: Fields): FieldFault[] {
  const secret = textOf(secretName)
  return [
    ...faultsOfEach(textsOf(hosts), (host, at) => checked(`${path}.hosts[${at}]`, host, checkHost)),
    ...(secret === '' ? [] : checked(`${path}.secretName`, secret, checkDnsSubdomain)),
  ]
}

function validateStatus({ status }: KubeObject): FieldFault[] {
  return faultsOfEach(itemsOf(fieldsOf(fieldsOf(status)['loadBalancer'])['ingress']), (point, at) =>
    validateIngressPoint(`status.loadBalancer.ingress[${at}]`, point),
  )
}

/**
 * Requires that the annotation and the field for the ingress class agree. This applies only on
 * create, because stored objects can have different values.
 */
function validateClassAnnotation({ metadata, spec }: KubeObject): FieldFault[] {
  const annotated = metadata.annotations?.[classAnnotation]
  const { ingressClassName } = fieldsOf(spec)
  if (
    annotated === undefined ||
    typeof ingressClassName !== 'string' ||
    annotated === ingressClassName
  )
    return []
  const path = `annotations.${classAnnotation}`
  return [invalidValue(path, annotated, 'must match `ingressClassName` when both are specified')]
}

function classWarnings({ metadata, spec }: KubeObject): string[] {
  const isNamed = typeof fieldsOf(spec)['ingressClassName'] === 'string'
  if (isNamed || metadata.annotations?.[classAnnotation] === undefined) return []
  return [
    `annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`,
  ]
}
