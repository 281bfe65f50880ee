import { parseJson } from '../../api/json-value.ts'
import { fieldsOf, type Json } from '../../api/object.ts'
import type { EngineState } from '../../storage/memory/memory-engine.ts'

/** The state of a cluster at one moment. It shares unchanged objects with the cluster. */
export class Snapshot {
  /** @internal */
  readonly state: EngineState

  /** @internal */
  constructor(state: EngineState) {
    this.state = state
  }
}

/**
 * Whether two values have the same uid. Undefined if one of them has no uid or is not JSON, such as
 * an encrypted value.
 */
export function isSameObject(one: Buffer, other: Buffer): boolean | undefined {
  const [uid, otherUid] = [uidOf(one), uidOf(other)]
  return uid === undefined || otherUid === undefined ? undefined : uid === otherUid
}

function uidOf(value: Buffer): Json | undefined {
  try {
    return fieldsOf(fieldsOf(parseJson(value))['metadata'])['uid']
  } catch {
    return undefined
  }
}
