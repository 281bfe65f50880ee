import { parseJson } from '../../api/json-value.ts'
import { fieldsOf, type Json } from '../../api/object.ts'
import type { EngineState, MemoryEngine } from '../../storage/memory/memory-engine.ts'

/** The state of a cluster at a point in time. It shares unchanged objects with the cluster. */
export class Snapshot {
  readonly #state: EngineState
  readonly #engine: MemoryEngine

  /** @internal */
  constructor(engine: MemoryEngine, state: EngineState = engine.state()) {
    this.#state = state
    this.#engine = engine
  }

  /** @internal */
  get state(): EngineState {
    return this.#state
  }

  /**
   * Returns the state if this engine belongs to the cluster that created the snapshot.
   * @internal
   */
  stateFor(engine: MemoryEngine): EngineState {
    if (engine === this.#engine) return this.#state
    throw new TypeError(
      'another cluster created this snapshot: restore it in that cluster, ' +
        'or copy the state of that cluster with its method fork()',
    )
  }
}

/**
 * Whether two stored values have the same uid. Returns undefined if one of them has no uid or is
 * not JSON, for example because it is encrypted.
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
