import { parseJson } from '../api/json-value.ts'
import { fieldsOf, type Json } from '../api/object.ts'
import type { EngineState } from '../storage/memory/memory-engine.ts'

/** The state of a cluster at one moment. It shares with the cluster what does not change. */
export class Snapshot {
  /** @internal */
  readonly state: EngineState

  /** @internal */
  constructor(state: EngineState) {
    this.state = state
  }
}

/** By their uids. Values that are not JSON, such as encrypted ones, count as different objects. */
export function isSameObject(one: Buffer, other: Buffer): boolean {
  const uid = uidOf(one)
  return uid !== undefined && uid === uidOf(other)
}

function uidOf(value: Buffer): Json | undefined {
  try {
    return fieldsOf(fieldsOf(parseJson(value))['metadata'])['uid']
  } catch {
    return undefined
  }
}
