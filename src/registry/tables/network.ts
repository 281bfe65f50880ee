/** Tables of network resources. */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  listOf,
  numberOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import type { TableKind } from '../../api/table.ts'
import { hostPort } from '../../lib/net/hosts.ts'
import {
  createdAgo,
  nameOf,
  orNone,
  orUnset,
  printLabels,
  printSelector,
  SHOWN_MAX,
  shortened,
  shownOf,
  specOf,
  statusOf,
  table,
} from './columns.ts'
import { keysOf } from '../../lib/scheduling/long-lists.ts'
import { eachItem, mapEach } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'

const services = table(
  'Name | Type | Cluster-IP | External-IP | Port(s) | Age | Selector*',
  (object) => {
    const { type, clusterIP, ports, selector } = specOf(object)
    return [
      nameOf(object),
      textOf(type),
      orNone(textOf(clusterIP)),
      externalAddresses(object),
      orNone(mapEach('ports of a row', itemsOf(ports), printPort).join(',')),
      createdAgo(object),
      printLabels(selector),
    ]
  },
)

function printPort({ port, nodePort, protocol }: Fields): string {
  const outside = numberOf(nodePort) > 0 ? `:${numberOf(nodePort)}` : ''
  return `${numberOf(port)}${outside}/${textOf(protocol)}`
}

function externalAddresses(service: KubeObject): string {
  const { type, externalIPs, externalName } = specOf(service)
  const given = textsOf(externalIPs)
  if (type === 'ExternalName') return textOf(externalName)
  if (type !== 'LoadBalancer') return orNone(given.join(','))
  const all = [...addressesOf(statusOf(service)), ...given]
  return all.length === 0 ? '<pending>' : all.join(',')
}

/** Returns the addresses of a load balancer, sorted and without duplicates. */
function addressesOf({ loadBalancer }: Fields): readonly string[] {
  const all = keysOf(
    itemsOf(fieldsOf(loadBalancer)['ingress']),
    ({ ip, hostname }) => textOf(ip) || textOf(hostname),
  )
  return sortInParts('addresses of a row', [...all], (one, other) => (one < other ? -1 : 1))
}

const endpoints = table('Name | Endpoints | Age', (object) => [
  nameOf(object),
  printEndpoints(itemsOf(object['subsets'])),
  createdAgo(object),
])

/**
 * Formats endpoints. The cell is empty if there are subsets, but none of their addresses is ready.
 */
function printEndpoints(subsets: readonly Fields[]): string {
  if (subsets.length === 0) return '<none>'
  const { first, count } = eachItem(
    'endpoints of a row',
    subsets,
    noEndpoints,
    (found, { addresses, ports }) => {
      const [ips, numbers] = [listOf(addresses), listOf(ports)]
      const hosts = itemsOf(ips.slice(0, SHOWN_MAX)).map(({ ip }) => textOf(ip))
      const some = itemsOf(numbers.slice(0, SHOWN_MAX)).map(({ port }) => numberOf(port))
      const shown =
        numbers.length === 0
          ? hosts
          : some.flatMap((port) => hosts.map((host) => hostPort({ host, port })))
      for (const text of shown) if (found.first.length < SHOWN_MAX) found.first.push(text)
      found.count += ips.length * Math.max(numbers.length, 1)
      return true
    },
  )
  return shortened(first, count)
}

/**
 * Returns the initial state of `printEndpoints`. Endpoints are counted instead of listed, because
 * each subset has an endpoint for every combination of an address and a port.
 */
const noEndpoints = (): { readonly first: string[]; count: number } => ({ first: [], count: 0 })

const endpointSlices = table('Name | AddressType | Ports | Endpoints | Age', (object) => {
  const ports = mapEach(
    'ports of a slice',
    itemsOf(object['ports']),
    ({ port, name }) => shownOf(port) || textOf(name),
  )
  const addresses = mapEach('addresses of a slice', itemsOf(object['endpoints']), (one) =>
    textsOf(one['addresses']),
  )
  return [
    nameOf(object),
    textOf(object['addressType']),
    orUnset(shortened(ports)),
    orUnset(shortened(addresses.flat())),
    createdAgo(object),
  ]
})

const ingresses = table('Name | Class | Hosts | Address | Ports | Age', (object) => {
  const { ingressClassName, rules, tls } = specOf(object)
  return [
    nameOf(object),
    orNone(textOf(ingressClassName)),
    printHosts(itemsOf(rules)),
    addressesOf(statusOf(object)).join(','),
    itemsOf(tls).length > 0 ? '80, 443' : '80',
    createdAgo(object),
  ]
})

/**
 * Formats the hosts of rules. Rules without a host are not shown, but are counted in `+ n more`.
 */
function printHosts(rules: readonly Fields[]): string {
  const hosts = mapEach('hosts of a row', rules, ({ host }) => textOf(host))
  const named = hosts.filter((host) => host !== '')
  if (named.length === 0) return '*'
  return shortened(
    named.length > SHOWN_MAX ? [...named, ...hosts.filter((host) => host === '')] : named,
  )
}

const ingressClasses = table('Name | Controller | Parameters | Age', (object) => {
  const { controller, parameters } = specOf(object)
  return [
    nameOf(object),
    textOf(controller),
    printParameters(fieldsOf(parameters)),
    createdAgo(object),
  ]
})

function printParameters({ apiGroup, kind, name }: Fields): string {
  if (kind === undefined) return '<none>'
  return `${textOf(kind)}${apiGroup === undefined ? '' : `.${textOf(apiGroup)}`}/${textOf(name)}`
}

const networkPolicies = table('Name | Pod-Selector | Age', (object) => [
  nameOf(object),
  printSelector(specOf(object)['podSelector']),
  createdAgo(object),
])

/**
 * Table of IPAddresses. As in kube-apiserver, each row has a third cell with the age, although
 * there is no third column.
 */
const ipAddresses = table('Name | ParentRef', (object) => {
  const { group, resource, namespace, name } = fieldsOf(specOf(object)['parentRef'])
  const what = (
    textOf(group) === '' ? textOf(resource) : `${textOf(resource)}.${textOf(group)}`
  ).toLowerCase()
  const parent = [what, textOf(namespace), textOf(name)].filter((part) => part !== '').join('/')
  return [nameOf(object), parent, createdAgo(object)]
})

const serviceCidrs = table('Name | CIDRs | Age', (object) => [
  nameOf(object),
  textsOf(specOf(object)['cidrs']).join(','),
  createdAgo(object),
])

export const networkTables: readonly (readonly [string, TableKind])[] = [
  ['Service', services],
  ['Endpoints', endpoints],
  ['EndpointSlice.discovery.k8s.io', endpointSlices],
  ['Ingress.networking.k8s.io', ingresses],
  ['IngressClass.networking.k8s.io', ingressClasses],
  ['NetworkPolicy.networking.k8s.io', networkPolicies],
  ['IPAddress.networking.k8s.io', ipAddresses],
  ['ServiceCIDR.networking.k8s.io', serviceCidrs],
]
