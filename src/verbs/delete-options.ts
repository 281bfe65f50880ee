/** How an object is to be deleted: from the body, or, when there is none, from the query. */
import { invalid, unclassified } from '../api/errors.ts'
import { invalidValue, notSupported } from '../api/field-fault.ts'
import { fieldsOf, isFields, type Fields, type Json } from '../api/object.ts'
import { type ApiRequest, firstHeader } from '../api/request.ts'
import { parseJson } from '../codec/json.ts'
import { requireJsonBody } from '../codec/negotiate.ts'
import { checkShape } from '../codec/shape.ts'
import { boolean, int64, optional, string, strings, struct } from '../api/shape.ts'
import { parseBoolean, parseInteger } from './options.ts'
import { refuseDryRun } from './write-request.ts'

export type Propagation = 'Foreground' | 'Background' | 'Orphan'

export type DeleteOptions = {
  /** Undefined: not a condition. */
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  /** Undefined: as the kind has it. */
  readonly propagation: Propagation | undefined
}

const shape = struct('DeleteOptions', [
  optional('gracePeriodSeconds', int64),
  optional('preconditions', struct('Preconditions', [optional('uid', string), optional('resourceVersion', string)])),
  optional('orphanDependents', boolean),
  optional('propagationPolicy', string),
  optional('dryRun', strings),
])

const propagations: readonly Propagation[] = ['Foreground', 'Background', 'Orphan']

export async function readDeleteOptions(http: ApiRequest): Promise<DeleteOptions> {
  const body = await http.body()
  const fields = body.length > 0 ? fromBody(http, body) : fromQuery(http.query)
  const { preconditions, orphanDependents, propagationPolicy } = fields
  const { uid, resourceVersion } = fieldsOf(preconditions)
  return {
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
    propagation: propagationOf(orphanDependents, propagationPolicy),
  }
}

/** A body that cannot be read is an unclassified error here, unlike in other verbs. */
function fromBody(http: ApiRequest, body: Buffer): Fields {
  requireJsonBody(firstHeader(http.headers, 'content-type'))
  const value = parse(body)
  if (value === null) return {}
  if (!isFields(value)) throw unclassified("couldn't get version/kind; json parse error: the body is no object")
  const { kind = 'DeleteOptions', dryRun } = value
  if (kind !== 'DeleteOptions') throw unclassified(`a delete takes DeleteOptions, not ${JSON.stringify(kind)}`)
  const fault = checkShape(value, shape)
  if (fault !== undefined) throw unclassified(fault)
  if (Array.isArray(dryRun) && dryRun.length > 0) refuseDryRun(new URLSearchParams('dryRun'))
  return value
}

function parse(body: Buffer): Json {
  try {
    return parseJson(body)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw unclassified(`couldn't get version/kind; json parse error: ${why}`, error)
  }
}

function fromQuery(query: URLSearchParams): Fields {
  refuseDryRun(query)
  parseInteger(query.get('gracePeriodSeconds'))
  const orphan = query.get('orphanDependents')
  return {
    preconditions: { uid: query.get('uid') ?? undefined, resourceVersion: query.get('resourceVersion') ?? undefined },
    orphanDependents: orphan === null ? undefined : parseBoolean(orphan),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
  }
}

function propagationOf(orphanDependents: Json | undefined, policy: Json | undefined): Propagation | undefined {
  const known = propagations.find((one) => one === policy)
  const faults = []
  if (typeof policy === 'string') {
    if (typeof orphanDependents === 'boolean') {
      const why = 'orphanDependents and deletionPropagation cannot be both set'
      faults.push(invalidValue('propagationPolicy', policy, why))
    }
    if (known === undefined) faults.push(notSupported('propagationPolicy', policy, [...propagations, 'nil']))
  }
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', faults)
  if (typeof orphanDependents === 'boolean') return orphanDependents ? 'Orphan' : 'Background'
  return known
}
