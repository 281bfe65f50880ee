/** Rules for host aliases and the DNS configuration of a Pod. */
import {
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../../api/field-fault.ts'
import { goStrings } from '../../../../api/go-value.ts'
import { checkDnsSubdomain, checkUnderscoredSubdomain } from '../../../../api/names.ts'
import { fieldsOf, itemsOf, textOf, textsOf } from '../../../../api/object.ts'
import { once } from '../../../../lib/scheduling/parts.ts'
import { each, eachIn, fields, type Rule } from '../../../rules/rule.ts'
import { ipAddress, named } from '../../../rules/scalars.ts'
import type { PodRule } from './check.ts'

const NAMESERVERS_MAX = 3
const SEARCHES_MAX = 32
/** Maximum total length of all search paths, joined by spaces. */
const SEARCH_CHARACTERS_MAX = 2048

export const hostAliases: Rule = each(
  fields({ ip: ipAddress, hostnames: each(named(checkDnsSubdomain)) }),
)

/**
 * Rule for a DNS search path, which can end with a dot. If the feature gate
 * RelaxedDNSSearchValidation is on, the path can also consist of a single dot, and its labels can
 * contain underscores.
 */
const searchPath: PodRule = (value, path, { faults, gates }) => {
  const search = textOf(value)
  const isRelaxed = gates.isOn('RelaxedDNSSearchValidation')
  if (isRelaxed && search === '.') return
  const name = search.replace(/\.$/, '')
  const whys = isRelaxed ? checkUnderscoredSubdomain(name, gates.release) : checkDnsSubdomain(name)
  for (const why of whys) faults.push(invalidValue(path, name, why))
}

export const dnsConfig: PodRule = (value, path, check) => {
  const { faults, spec } = check
  const isOwn = spec['dnsPolicy'] === 'None'
  if (value === undefined) {
    if (isOwn) faults.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'))
    return
  }
  const { nameservers, searches, options } = fieldsOf(value)
  const servers = textsOf(nameservers)
  const paths = textsOf(searches)
  if (isOwn && servers.length === 0) {
    const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
    faults.push(required(`${path}.nameservers`, why))
  }
  if (servers.length > NAMESERVERS_MAX) {
    faults.push(
      tooMany(
        `${path}.nameservers`,
        servers,
        `must not have more than ${NAMESERVERS_MAX} nameservers`,
      ),
    )
  }
  each(ipAddress)(servers, `${path}.nameservers`, check)
  if (paths.length > SEARCHES_MAX) {
    faults.push(
      tooMany(`${path}.searches`, paths, `must not have more than ${SEARCHES_MAX} search paths`),
    )
  }
  if (once('length of search paths', () => paths.join(' ').length) > SEARCH_CHARACTERS_MAX) {
    const why = `must not have more than ${SEARCH_CHARACTERS_MAX} characters (including spaces) in the search list`
    faults.push(tooMany(`${path}.searches`, paths, why))
  }
  each(searchPath)(paths, `${path}.searches`, check)
  eachIn(itemsOf(options), check, ({ name }, at, own) => {
    if (textOf(name) === '')
      own.faults.push(required(`${path}.options[${at}]`, 'must not be empty'))
  })
}

const tooMany = (path: string, list: readonly string[], why: string): FieldFault =>
  invalidShown(path, goStrings(list), why)
